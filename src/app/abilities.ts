import { SUBJECT } from "../domain/run/alert.ts";
import { type AlertDeps, raiseChange, writeAndTell } from "../engine/alerts.ts";
import type { Ability, Chain, EndpointReport } from "../ports/chain.ts";
import type { Logger } from "../ports/logger.ts";

/** What the lack of an ability at every endpoint means; undefined: it is slower or narrower, and trading goes on. */
const LACKED: Readonly<Record<Ability, string | undefined>> = {
  simulation: "no transaction can be tried out, so none is signed: add an endpoint with eth_simulateV1",
  finality: "no block ever counts as final, so lost swaps never end: add an endpoint with the finalized tag",
  overrides: undefined,
  logs: undefined,
};

/** What the endpoints together can and cannot do. */
export interface AbilityVerdict {
  /** why nothing can be traded, with what to do */
  readonly problems: readonly string[];
  /** which endpoint is weaker than it could be, and in what */
  readonly warnings: readonly string[];
}

/** Judges all endpoints together: what one of them can do is asked of that one. */
export function judgeAbilities(reports: readonly EndpointReport[]): AbilityVerdict {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const ability of Object.keys(LACKED) as Ability[]) {
    const found = reports.map(({ host, findings }, index) => {
      const finding = findings.find((one) => one.ability === ability);
      const name = reports.length > 1 ? `endpoint ${index + 1} (${host})` : `the endpoint ${host}`;
      return { name, state: finding?.state ?? "unknown", detail: finding?.detail ?? "it was not tried out" };
    });
    const lacking = found.filter(({ state }) => state === "lacking");
    const meaning = LACKED[ability];
    if (meaning !== undefined && lacking.length > 0 && lacking.length === found.length) {
      problems.push(`${lacking.map(({ name, detail }) => `${name}: ${detail}`).join("; ")}. ${meaning}`);
    } else warnings.push(...lacking.map(({ name, detail }) => `${name} lacks ${ability}: ${detail}`));
  }
  return { problems, warnings };
}

const TRY_AGAIN_MS = 60_000;

/** Watches over what the endpoints can do, while the daemon runs. */
export interface AbilityWatch {
  /**
   * Tries them out now, and every minute for as long as no endpoint can do what every trade needs: a node that starts up
   * knows no final block yet, and a read that a node refused for a moment is asked by nobody until the next swap.
   */
  keepTrying(chain: Pick<Chain, "abilities">): Promise<void>;
  note(reports: readonly EndpointReport[]): Promise<void>;
  /** false: no endpoint can do what every trade needs */
  mayTrade(): boolean;
  /** What is heard from then on is left alone: the database is closed. */
  stop(): void;
}

/** Says once what the endpoints lack, and again when it changes; an alert tells of what stops all trading. */
export function watchAbilities(deps: AlertDeps & { readonly logger: Logger }): AbilityWatch {
  const { logger, clock } = deps;
  let said = "";
  let mayTrade = true;
  const stopping = new AbortController();
  return {
    keepTrying: async (chain) => {
      await chain.abilities();
      while (!stopping.signal.aborted) {
        await clock.sleep(TRY_AGAIN_MS, stopping.signal);
        if (!stopping.signal.aborted && !mayTrade) await chain.abilities();
      }
    },
    stop: () => stopping.abort(),
    mayTrade: () => mayTrade,
    note: async (reports) => {
      if (stopping.signal.aborted) return;
      const { problems, warnings } = judgeAbilities(reports);
      mayTrade = problems.length === 0;
      const words = JSON.stringify([problems, warnings]);
      if (words === said) return;
      said = words;
      for (const problem of problems) logger.error({ problem }, "no RPC endpoint can do what every trade needs");
      for (const warning of warnings) logger.warn({ warning }, "an RPC endpoint is weaker than it could be");
      const subject = SUBJECT.endpoints();
      const text = problems.join(" ");
      const alert = { severity: "critical", code: "ENDPOINTS_UNABLE", subject, text } as const;
      const over = { kind: "alerts-over", subject } as const;
      await writeAndTell(deps, problems.length === 0 ? [over] : [over, raiseChange(deps, alert)]);
    },
  };
}
