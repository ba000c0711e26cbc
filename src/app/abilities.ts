import {
  DEFAULT_SIMULATION_METHODS,
  formatMethods,
  SIMULATION_METHODS,
  type SimulationMethod,
} from "../domain/guard/simulation-method.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import { type AlertDeps, raiseChange, writeAndNotify } from "../engine/alerts.ts";
import type { Ability, AbilityFinding, Chain, EndpointReport } from "../ports/chain.ts";
import type { Logger } from "../ports/logger.ts";

/** What the lack of an ability at every endpoint means; undefined: it is slower or narrower, and trading goes on. */
const LACKED: Readonly<Record<Exclude<Ability, SimulationMethod>, string | undefined>> = {
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
  /** the ways in which one of them can try transactions out, of those that the policy permits */
  readonly ways: readonly SimulationMethod[];
}

/** An endpoint by the name that people are shown, and what its probe found of an ability. */
interface Judged {
  readonly name: string;
  finding(ability: Ability): { readonly state: AbilityFinding["state"]; readonly detail: string };
}

/**
 * Judges all endpoints together: what one of them can do is asked of that one.
 * @param permitted how the policy lets transactions be simulated
 */
export function judgeAbilities(
  reports: readonly EndpointReport[],
  permitted: readonly SimulationMethod[],
): AbilityVerdict {
  const endpoints = reports.map(({ host, findings }, index): Judged => {
    const name = reports.length > 1 ? `endpoint ${index + 1} (${host})` : `the endpoint ${host}`;
    return {
      name,
      finding: (ability) => {
        const { state = "unknown", detail } = findings.find((one) => one.ability === ability) ?? {};
        return { state, detail: detail ?? "it was not tested" };
      },
    };
  });
  const { problems, warnings, ways } = judgeWays(endpoints, permitted);
  for (const ability of Object.keys(LACKED) as (keyof typeof LACKED)[]) {
    const lacking = endpoints.filter(({ finding }) => finding(ability).state === "lacking");
    const meaning = LACKED[ability];
    if (meaning !== undefined && lacking.length > 0 && lacking.length === endpoints.length) {
      const said = lacking.map(({ name, finding }) => `${name}: ${finding(ability).detail}`);
      problems.push(`${said.join("; ")}. ${meaning}`);
    } else warnings.push(...lacking.map(({ name, finding }) => `${name} lacks ${ability}: ${finding(ability).detail}`));
  }
  return { problems, warnings, ways };
}

/** Which endpoints gave no answer to a probe, and the first reason of each: what they can do is not known. */
export function silencesOf(reports: readonly EndpointReport[]): readonly string[] {
  return reports.flatMap(({ host, findings }) => {
    const silent = findings.find(({ state }) => state === "unknown");
    if (silent === undefined) return [];
    const why = silent.detail === undefined ? "" : `: ${silent.detail}`;
    return [`what ${host} can do is not known, because it did not answer everything${why}`];
  });
}

/** One permitted way at one endpoint is enough; silence proves nothing. */
function judgeWays(endpoints: readonly Judged[], permitted: readonly SimulationMethod[]) {
  const states = ({ finding }: Judged): readonly string[] => permitted.map((way) => finding(way).state);
  const unable = endpoints.filter((endpoint) => states(endpoint).every((state) => state === "lacking"));
  const ways = SIMULATION_METHODS.filter(
    (way) => permitted.includes(way) && endpoints.some(({ finding }) => finding(way).state === "able"),
  );
  const lacks = ({ finding }: Judged, of: readonly SimulationMethod[]): string =>
    [...new Set(of.map((way) => finding(way).detail))].join("; ");
  if (unable.length > 0 && unable.length === endpoints.length) {
    const said = unable.map((endpoint) => `${endpoint.name}: ${lacks(endpoint, permitted)}`).join("; ");
    return { problems: [`${said}. ${whatToDo(endpoints, permitted)}`], warnings: [], ways };
  }
  const warnings = endpoints.flatMap((endpoint) => {
    const best = permitted.find((way) => endpoint.finding(way).state !== "lacking");
    const better = permitted.slice(0, best === undefined ? undefined : permitted.indexOf(best));
    if (better.length === 0) return [];
    const instead = best === undefined ? "" : `, and simulates by ${formatMethods([best])}`;
    return [`${endpoint.name} lacks ${formatMethods(better)}${instead}: ${lacks(endpoint, better)}`];
  });
  return { problems: [] as string[], warnings, ways };
}

function whatToDo(endpoints: readonly Judged[], permitted: readonly SimulationMethod[]): string {
  const wanted = formatMethods(
    permitted.length === 1 && permitted[0] === "probe" ? SIMULATION_METHODS : DEFAULT_SIMULATION_METHODS,
  );
  const add = `no transaction can be simulated as the policy permits, so none is signed: add an endpoint with ${wanted}`;
  const further = SIMULATION_METHODS.filter((way) => !permitted.includes(way));
  const [other] = further.filter((way) => endpoints.some(({ finding }) => finding(way).state === "able"));
  if (other === undefined) return add;
  const words = `or let the owner add ${other} to \`simulation\` in the policy, which this one can do`;
  return `${add}, ${words}${other === "probe" ? " (docs/SECURITY.md says what it does not see)" : ""}`;
}

const TRY_AGAIN_MS = 60_000;

/** Watches over what the endpoints can do, while the daemon runs. */
export interface AbilityWatch {
  /**
   * Probes them now, and every minute for as long as no endpoint can do what every trade needs: a node that starts up
   * knows no final block yet, and a read that a node refused for a moment is not repeated before the next swap.
   */
  keepTrying(chain: Pick<Chain, "abilities">): Promise<void>;
  note(reports: readonly EndpointReport[]): Promise<void>;
  /** What was last found of each endpoint. */
  reports(): readonly EndpointReport[];
  /** Why no endpoint can do what every trade needs, and what to change; undefined where one can. */
  whyUnable(): string | undefined;
  /** Reports that come later are dropped: the database is closed. */
  stop(): void;
}

/**
 * Logs once what the endpoints lack, and again when it changes; an alert reports what stops all trading.
 * @param permitted how the policy lets transactions be simulated
 */
export function watchAbilities(
  deps: AlertDeps & { readonly logger: Logger },
  permitted: readonly SimulationMethod[],
): AbilityWatch {
  const { logger, clock } = deps;
  let said = "";
  let unable: string | undefined;
  let last: readonly EndpointReport[] = [];
  const stopping = new AbortController();
  return {
    keepTrying: async (chain) => {
      await chain.abilities();
      while (!stopping.signal.aborted) {
        await clock.sleep(TRY_AGAIN_MS, stopping.signal);
        if (!stopping.signal.aborted && unable !== undefined) await chain.abilities();
      }
    },
    stop: () => stopping.abort(),
    reports: () => last,
    whyUnable: () => unable,
    note: async (reports) => {
      if (stopping.signal.aborted) return;
      last = reports;
      const { problems, warnings } = judgeAbilities(reports, permitted);
      unable = problems.length === 0 ? undefined : problems.join(" ");
      const words = JSON.stringify([problems, warnings]);
      if (words === said) return;
      said = words;
      for (const problem of problems) logger.error({ problem }, "no RPC endpoint can do what every trade needs");
      for (const warning of warnings) logger.warn({ warning }, "an RPC endpoint is weaker than it could be");
      const subject = SUBJECT.endpoints();
      const over = { kind: "alerts-over", subject } as const;
      const alert = { severity: "critical", code: "ENDPOINTS_UNABLE", subject } as const;
      await writeAndNotify(deps, unable === undefined ? [over] : [over, raiseChange(deps, { ...alert, text: unable })]);
    },
  };
}
