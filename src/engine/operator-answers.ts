import { SUBJECT } from "../domain/run/alert.ts";
import { type Hold, type HoldAnswer, refusalIn } from "../domain/run/hold.ts";
import type { Run } from "../domain/run/run.ts";
import { isRunEnd, type SwapState } from "../domain/run/states.ts";
import type { Answered } from "../ports/questions.ts";
import { tradingBarred } from "./gather-evidence.ts";
import { modeOf, RECONCILIATION } from "./modes.ts";
import type { Outcome } from "./operator-transactions.ts";

/** How the identifier of a run begins, where a strategy's name could stand as well. */
const RUN_ID = /^run_/;

/** Whether what an operator named is a run, and no strategy. */
export function isRunId(name: string): boolean {
  return RUN_ID.test(name);
}

/** What comes of a person's answer to a run that waits for one. It is taken once: a second word would come too late. */
export function decideHoldAnswer(
  rows: Answered<"hold">,
  { runId, answer }: { readonly runId: string; readonly answer: HoldAnswer },
): Outcome {
  const { run, holds } = rows;
  if (run === undefined) return refused(`no run ${JSON.stringify(runId)}; see: swapd history --json`);
  if (isRunEnd(run.state)) return refused(`${runId} has ended: ${run.state}, ${run.reason ?? "no reason"}`);
  const isRefused = answer.decision === "refused";
  const mayAnswer = ({ untilMs }: Hold): boolean => (isRefused ? mayStop(run) : untilMs > answer.atMs);
  if (!holds.some((hold) => hold.answer === undefined && mayAnswer(hold))) {
    const given = holds.find((hold) => hold.answer !== undefined)?.answer;
    const late = isRefused && refusalIn(holds) === undefined ? beyondNo(run) : undefined;
    if (late !== undefined) return refused(`${runId} waits for nobody any more: ${late}`);
    if (given !== undefined) return refused(`${given.by} has ${given.decision} ${runId} already`);
    return refused(`${runId} waits for nobody; see: swapd show ${runId}`);
  }
  const then = isRefused ? `nothing ${isUntouched(run) ? "" : "more "}of it is signed` : whatFollows(run, rows);
  return {
    answer: `${answer.decision} ${runId} of ${run.strategyId}: ${then}`,
    changes: [
      { kind: "hold-answered", runId, answer },
      { kind: "alerts-over", subject: SUBJECT.hold(runId) },
    ],
  };
}

/** A swap in one of these is checked once more before anything of it is signed, and ends there where a person said no. */
const TO_BE_CHECKED: ReadonlySet<SwapState> = new Set(["planned", "quoted", "approving"]);

/** A no is in time as long as something of the run is left to stop, whatever a clock, or a time without a daemon, says. */
function mayStop({ swaps }: Run): boolean {
  return swaps.some(({ state }) => TO_BE_CHECKED.has(state));
}

/** Signed, and seen in no block so far. */
const UNDER_WAY: ReadonlySet<SwapState> = new Set(["signed", "submitted", "unknown"]);

/**
 * A no does not reach what a lane or a signer has in its hands: what still stops that is known to the one that has it.
 * @returns what is under way, and with what it is stopped; undefined where nothing is
 */
function beyondNo({ id: runId, strategyId, swaps }: Run): string | undefined {
  const swap = swaps.find(({ state }) => state === "cleared" || UNDER_WAY.has(state));
  if (swap === undefined) return undefined;
  const { id, state, intentId } = swap;
  const cancel = intentId === undefined ? undefined : `stop it with: swapd tx cancel ${intentId}`;
  if (state !== "cleared")
    return `${id} is signed already; ${cancel ?? `the chain decides what becomes of it: swapd show ${runId}`}`;
  const halt = `keep unsigned what is not signed yet with: swapd halt ${strategyId}`;
  const stop = cancel === undefined ? halt : `${cancel}; or, where no daemon runs, ${halt}`;
  return `${id} passed its checks and is being signed; ${stop}`;
}

const NEVER_SIGNED: ReadonlySet<SwapState> = new Set(["planned", "quoted", "skipped", "denied"]);

function isUntouched({ swaps }: Run): boolean {
  return swaps.every(({ state, approvals }) => approvals === 0 && NEVER_SIGNED.has(state));
}

/** What becomes of a run that was let go: who approved it is not to believe that it trades where it does not. */
function whatFollows(run: Run, rows: Answered<"hold">): string {
  const barred = tradingBarred(rows);
  if (barred !== undefined) return `it ends unsigned all the same: ${barred}`;
  const { mode, setBy } = modeOf(run.strategyId, rows);
  const account = rows.halts.find((halt) => run.swaps.some(({ wallet }) => wallet === halt.account))?.account;
  if (mode !== "halted" && account === undefined) return "it is quoted and checked again, and trades";
  const who = mode === "halted" ? "it" : `the account ${account}`;
  const next = mode === "halted" && setBy === RECONCILIATION ? "swapd db check" : "swapd resume";
  return `it signs nothing while ${who} is halted, and ends if that lasts as long as its window: ${next}`;
}

function refused(why: string): Outcome {
  return { answer: `refused: ${why}`, changes: [] };
}
