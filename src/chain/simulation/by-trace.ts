import { NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { CallRequest, ChainLog, SimulationOutcome } from "../../ports/chain.ts";
import type { Ask } from "../crowded-reads.ts";
import { toQuantity } from "../quantity.ts";
import { readAddress, readArray, readLog, readObject, readQuantity } from "../read-values.ts";
import { revertReason } from "../revert-reason.ts";
import { approvalsOf, transfersOf } from "../token-logs.ts";
import { carriedOn } from "./carried-state.ts";
import type { LentState, SimulateAt, SimulationRun } from "./method.ts";

type Simulated = Extract<SimulationOutcome, { kind: "ok" }>;
type Fields = Readonly<Record<string, unknown>>;

const way = "trace";

/** Frames that move the native token. A delegate call shows its caller's value, which moves nothing. */
const MOVES_VALUE: ReadonlySet<unknown> = new Set(["CALL", "CREATE", "CREATE2", "SELFDESTRUCT"]);

/**
 * Runs calls by `debug_traceCall`, which takes one: what each of them changes is injected into the next, so each is a
 * transaction of its own, as it will be, by an account without code.
 */
export const simulateByTrace: SimulateAt = async (ask, run) => {
  const seen = {
    transfers: [] as Simulated["transfers"][number][],
    logs: [] as ChainLog[],
    gasUsedByCall: [] as bigint[],
  };
  let lent = run.lent;
  for (const [index, call] of run.calls.entries()) {
    const isLast = index === run.calls.length - 1;
    const [frame, changed] = await Promise.all([
      traced(ask, call, { run, lent, options: { tracer: "callTracer", tracerConfig: { withLog: true } } }),
      isLast ? undefined : traced(ask, call, { run, lent, options: CHANGES }),
    ]);
    const top = readObject(frame, "a traced call");
    if (isFailed(top)) return { kind: "reverted", way, reason: reasonOf(top) };
    collect(top, seen);
    seen.gasUsedByCall.push(readQuantity(top.gasUsed, "a traced call's gas"));
    if (changed !== undefined) lent = carriedOn(lent, changed);
  }
  const { logs, gasUsedByCall } = seen;
  return {
    ...{ kind: "ok", way, gasUsed: gasUsedByCall.reduce((sum, gas) => sum + gas, 0n), gasUsedByCall },
    ...{ transfers: [...transfersOf(logs), ...seen.transfers], approvals: approvalsOf(logs) },
  };
};

const CHANGES = { tracer: "prestateTracer", tracerConfig: { diffMode: true } };

async function traced(
  ask: Ask,
  { from, to, data, value }: CallRequest,
  { run, lent, options }: { run: SimulationRun; lent: LentState; options: object },
): Promise<unknown> {
  const settings = {
    ...options,
    ...(run.next === undefined ? {} : { blockOverrides: run.next }),
    ...(Object.keys(lent).length === 0 ? {} : { stateOverrides: lent }),
  };
  return await ask("debug_traceCall", [{ from, to, input: data, value: toQuantity(value) }, run.block, settings]);
}

/** Takes what a frame and those inside of it did. Of one that failed nothing happened, whatever succeeded inside of it. */
function collect(
  frame: Fields,
  seen: { readonly transfers: Simulated["transfers"][number][]; readonly logs: ChainLog[] },
): void {
  if (isFailed(frame)) return;
  const amount = isAbsent(frame.value) ? 0n : readQuantity(frame.value, "a traced call's value");
  if (amount > 0n && MOVES_VALUE.has(frame.type)) {
    const [from, to] = [
      readAddress(frame.from, "a traced call's sender"),
      readAddress(frame.to, "whom a traced call calls"),
    ];
    seen.transfers.push({ token: NATIVE_TOKEN, from, to, amount });
  }
  for (const log of listOf(frame.logs, "a traced call's logs")) {
    const fields = readObject(log, "a log");
    // Its place in the block is not reported, and not needed.
    seen.logs.push(readLog({ ...fields, topics: fields.topics ?? [], logIndex: "0x0" }));
  }
  for (const inner of listOf(frame.calls, "a traced call's calls")) collect(readObject(inner, "a traced call"), seen);
}

function isFailed({ error }: Fields): boolean {
  return !isAbsent(error) && error !== "";
}

function reasonOf({ error, output, revertReason: told }: Fields): string {
  const words = [told, error].find((text) => typeof text === "string" && text !== "");
  return revertReason(output, typeof words === "string" ? words.slice(0, 200) : undefined);
}

function listOf(value: unknown, what: string): readonly unknown[] {
  return isAbsent(value) ? [] : readArray(value, what);
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}
