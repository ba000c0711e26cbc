import type { Info } from "../answers.ts";

export type Tone = "good" | "bad" | "warn" | "calm" | "busy";

const TONES: Readonly<Record<string, Tone>> = {
  ...{ filled: "good", final: "good", confirmed: "good", active: "good", done: "good", yes: "good", approved: "good" },
  ...{ partial: "warn", parked: "warn", unknown: "warn", paused: "warn", "exits-only": "warn", warning: "warn" },
  ...{ failed: "bad", denied: "bad", reverted: "bad", halted: "bad", critical: "bad", refused: "bad", expired: "bad" },
  ...{ due: "busy", deciding: "busy", executing: "busy", planned: "busy", quoted: "busy", cleared: "busy" },
  ...{ approving: "busy", signed: "busy", submitted: "busy", mined: "busy", waiting: "busy", broadcast: "busy" },
};

/** How a state is coloured. Its word always stands beside the colour. */
export function toneOf(state: string): Tone {
  return TONES[state] ?? "calm";
}

export const MODE_WORDS = {
  "dry-run": { title: "Dry run", text: "decides and quotes, trades nothing" },
  paper: { title: "Paper", text: "simulated fills, money that is not there" },
  live: { title: "Live", text: "real money" },
} as const;

/** What a mode means here. Nothing on a sandbox's own chain is worth anything. */
export function modeText(mode: keyof typeof MODE_WORDS, info: Pick<Info, "network"> | undefined): string {
  const network = info?.network.name;
  if (mode === "live" && network === "sandbox") return "trades on the sandbox's chain, with play money";
  return network === undefined ? MODE_WORDS[mode].text : `${MODE_WORDS[mode].text}, on ${network}`;
}

/** Codes as people read them: `SLIPPAGE_TOO_HIGH` is `slippage too high`. */
export function inWords(code: string): string {
  return code.replaceAll(/[_-]+/g, " ").toLowerCase();
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
