import type { Configuration, Mode } from "../config/configuration.ts";
import { CommandFailure } from "./exit-codes.ts";
import { modeAtWork } from "./mode-at-work.ts";
import { configurationOf, nameTarget, type Target } from "./target.ts";
import type { Terminal } from "./terminal.ts";

const MEANING: Readonly<Record<Mode, string>> = {
  "dry-run": "each slot is judged alone, and nothing is signed",
  paper: "fills are simulated at a later block and carried on, and nothing is signed",
  live: "transactions are signed and sent",
};

/** Whether it is dry, on paper or live, in one line, and in which database. */
export function modeLine({ mode, database }: Pick<Configuration, "mode" | "database">): string {
  return `mode ${mode}: ${MEANING[mode]} (database ${database})`;
}

/** The same of what a command is about; undefined where the sandbox's configuration is gone. */
export function modeOfTarget(target: Target): { readonly mode: Mode; readonly line: string } | undefined {
  try {
    const { configuration } = configurationOf(target);
    const mode = modeAtWork(configuration);
    const next =
      mode === configuration.mode ? "" : `; the file says ${configuration.mode}, which the next start takes over`;
    return { mode, line: `${modeLine({ ...configuration, mode })}${next}` };
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
}

/** Of which world a command reads, where that is not the daemon's own. */
export const REHEARSAL_LINE = "of the last rehearsal: live on a fork, and nothing of it is on the network";

/** What a command that only reads says to people before anything else: whether it is dry, on paper or live. */
export function sayMode(
  target: Target,
  { json, rehearsal }: { readonly json?: boolean | undefined; readonly rehearsal?: boolean | undefined },
  terminal: Pick<Terminal, "out">,
): void {
  if (json === true) return;
  const line =
    target.kind === "broken" ? `this is what the rows say ${nameTarget(target)}` : modeOfTarget(target)?.line;
  const lines = [...(rehearsal === true ? [REHEARSAL_LINE] : []), ...(line === undefined ? [] : [line])];
  for (const one of lines) terminal.out(`${one}\n`);
}
