import type { Configuration } from "../../config/configuration.ts";
import { ChainReadError } from "../../domain/chain-read-error.ts";
import { simulationMethodsOf } from "../../domain/guard/policy.ts";
import { formatMethods } from "../../domain/guard/simulation-method.ts";
import { MINUTE_MS } from "../../domain/time/durations.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { BlockHead, Chain, EndpointReport } from "../../ports/chain.ts";
import { judgeAbilities } from "../abilities.ts";
import { checkSending } from "../check-sending.ts";
import { CommandFailure } from "../exit-codes.ts";
import type { Machine } from "../machine.ts";
import { openChain } from "../open-chain.ts";
import type { Runtime } from "../runtime.ts";
import { shortened } from "../terminal.ts";
import { fine, type Judged, judgedOf } from "./diagnosis.ts";
import { type ClockReading, readingClocks } from "./look-at-clock.ts";

/** What one endpoint showed. */
export interface EndpointLook {
  readonly name: string;
  /** what it alone answers; undefined where its secret is missing, with which no start goes on */
  readonly chain: Chain | undefined;
  /** undefined where no proper answer came */
  readonly head: BlockHead | undefined;
  readonly problem: string | undefined;
  readonly tookMs: number;
  readonly report: EndpointReport | undefined;
  /** what the `Date` of its answers said of this machine's clock */
  readonly clocks: readonly ClockReading[];
}

/** Asks each endpoint by itself, all at once: what one of a pool does not answer, another one hides. */
export async function askEndpoints(
  configuration: Configuration,
  runtime: Runtime,
  machine: Machine,
): Promise<readonly EndpointLook[]> {
  const { network } = configuration;
  const number = (index: number): string => (network.rpc.length > 1 ? ` ${index + 1}` : "");
  return await Promise.all(
    network.rpc.map(async (endpoint, index): Promise<EndpointLook> => {
      // Where transactions go is no matter of one endpoint, and has a line of its own.
      const alone = { ...configuration, network: { ...network, rpc: [endpoint], submit: { kind: "public" } as const } };
      const { fetch, readings } = readingClocks(machine);
      const opened = whereOpen(() => ({
        host: runtime.secrets.rpcUrls(alone).map((url) => hostName(url.reveal()))[0] ?? "",
        chain: openChain(alone, runtime.secrets, { ...machine, fetch }),
      }));
      if ("problem" in opened) return { ...UNOPENED, name: `endpoint${number(index)}`, problem: opened.problem };
      const { host, chain } = opened;
      const name = network.rpc.length > 1 ? `endpoint${number(index)} (${host})` : `endpoint ${host}`;
      const fromMs = machine.clock.monotonicMs();
      const head = await tried(runtime, () => chain.latest());
      const tookMs = machine.clock.monotonicMs() - fromMs;
      const [report] = "problem" in head ? [] : await chain.abilities();
      const seen = "problem" in head ? { head: undefined, problem: head.problem } : { head, problem: undefined };
      return { name, chain, ...seen, tookMs, report, clocks: readings(host) };
    }),
  );
}

const UNOPENED = { chain: undefined, head: undefined, tookMs: 0, report: undefined, clocks: [] };

/** What is opened with secrets, or which one is missing: that is said in its place, and all else is looked at. */
export function whereOpen<T extends object>(open: () => T): T | { readonly problem: string } {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { problem: error.message };
  }
}

function hostName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "that is no URL";
}

async function tried<T>(runtime: Runtime, ask: () => Promise<T>): Promise<T | { readonly problem: string }> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { problem: runtime.redactor.redact(error.message) };
  }
}

/** The daemon asks an endpoint after the others when its newest block is so old, and calls the node away after five. */
const OLD_MS = 2 * MINUTE_MS;
const AWAY_MS = 5 * MINUTE_MS;

/** Judges what they showed. @param nowMs the time as far as it is known: this machine's, where nothing contradicts it */
export function judgeEndpoints(
  looks: readonly EndpointLook[],
  configuration: Configuration,
  nowMs: number,
): readonly Judged[] {
  const well = looks.filter(({ head }) => head !== undefined);
  const judged = looks.map((look) => judgeOne(look, { nowMs, isOnly: well.length === 0 || looks.length === 1 }));
  const reports = well.flatMap(({ report }) => report ?? []);
  return [...judged, ...judgeCount(configuration), ...(reports.length === 0 ? [] : judgeWays(reports, configuration))];
}

function judgeOne(
  { name, chain, head, problem, tookMs }: EndpointLook,
  { nowMs, isOnly }: { readonly nowMs: number; readonly isOnly: boolean },
): Judged {
  const mend = "swapd check";
  if (head === undefined) {
    const state = isOnly || chain === undefined ? "error" : "warning";
    return { what: name, state, found: problem ?? "no answer", mend };
  }
  const ageMs = Math.max(0, nowMs - head.timestamp * 1_000);
  const found = `answers within ${Math.round(tookMs)} ms; block ${head.number}, ${formatDuration(ageMs)} old`;
  if (ageMs <= OLD_MS) return fine(name, found);
  const state = ageMs > AWAY_MS && isOnly ? "error" : "warning";
  return { what: name, state, found: `${found}: it stands still, or is catching up`, mend };
}

function judgeCount({ network, mode }: Configuration): readonly Judged[] {
  if (network.rpc.length > 1 || mode !== "live") return [];
  const found = "one alone: where it is away or wrong, nobody contradicts it (name another operator's in network.rpc)";
  return [{ what: "count", state: "warning", found, mend: "swapd check" }];
}

function judgeWays(reports: readonly EndpointReport[], { policy }: Configuration): readonly Judged[] {
  const { problems, warnings, ways } = judgeAbilities(reports, simulationMethodsOf(policy));
  const mend = "swapd check";
  const first = formatMethods(ways.slice(0, 1));
  if (problems.length > 0) return problems.map((found) => ({ what: "abilities", state: "error", found, mend }));
  return [
    fine("abilities", `all that trading needs${first === "" ? "" : `; transactions are simulated by ${first}`}`),
    ...warnings.map((found): Judged => ({ what: "abilities", state: "warning", found, mend })),
  ];
}

/** Whether they agree on what is final, and where transactions go. */
export async function judgeTogether(
  looks: readonly EndpointLook[],
  { configuration, runtime, machine }: { configuration: Configuration; runtime: Runtime; machine: Machine },
): Promise<readonly Judged[]> {
  if (looks.every(({ head }) => head === undefined) || looks.some(({ chain }) => chain === undefined)) return [];
  const opened = whereOpen(() => ({ chain: openChain(configuration, runtime.secrets, machine) }));
  if ("problem" in opened) return [{ what: "sending", state: "error", found: opened.problem, mend: "swapd check" }];
  const { chain } = opened;
  const sending = configuration.mode === "live" ? await checkSending({ configuration, chain }) : [];
  const judged = sending.map(judgedOf);
  const well = looks.filter(({ head }) => head !== undefined);
  return well.length < 2 ? judged : [...judged, await judgeAgreement(well, chain, runtime)];
}

/** By the hash that each of them gives of the newest block that all call final. */
async function judgeAgreement(well: readonly EndpointLook[], chain: Chain, runtime: Runtime): Promise<Judged> {
  const what = "agreement";
  const mend = "swapd check";
  try {
    const { number, heldBack } = await (await chain.agreed()).finalized();
    const hashes = await Promise.all(
      well.map(async ({ name, chain: one }) => ({ name, hash: (await one?.block(number))?.hash })),
    );
    const told = hashes.flatMap(({ name, hash }) => (hash === undefined ? [] : [`${name} says ${shortened(hash)}`]));
    if (new Set(hashes.flatMap(({ hash }) => hash ?? [])).size > 1) {
      const found = `no: of block ${number}, which all call final, ${told.join(", ")}; find out which one is wrong`;
      return { what, state: "error", found, mend };
    }
    if (heldBack !== undefined) return { what, state: "warning", found: `on block ${number}; ${heldBack}`, mend };
    return fine(what, `${told.length} call block ${number} final, by the same hash`);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const state = error instanceof ChainReadError && error.code === "disagreement" ? "error" : "not tried";
    return { what, state, found: runtime.redactor.redact(error.message), mend };
  }
}
