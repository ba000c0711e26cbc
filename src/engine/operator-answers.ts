import { SUBJECT } from "../domain/run/alert.ts";
import type { HoldAnswer } from "../domain/run/hold.ts";
import { GLOBAL_SCOPE } from "../domain/run/operating-mode.ts";
import { isRunEnd } from "../domain/run/states.ts";
import type { Answered } from "../ports/questions.ts";
import type { Outcome } from "./operator-transactions.ts";

/** How the identifier of a run begins, where a strategy's name could stand as well. */
const RUN_ID = /^run_/;

/** Whether what an operator named is a run, and no strategy. */
export function isRunId(name: string): boolean {
  return RUN_ID.test(name);
}

/** What comes of a person's answer to a run that waits for one. It is taken once: a second word would come too late. */
export function decideHoldAnswer(
  { run, holds, modes }: Answered<"hold">,
  { runId, answer }: { readonly runId: string; readonly answer: HoldAnswer },
): Outcome {
  if (run === undefined) return refused(`no run ${JSON.stringify(runId)}; see: swapd history`);
  if (isRunEnd(run.state)) return refused(`${runId} has ended: ${run.state}, ${run.reason ?? "no reason"}`);
  if (!holds.some((hold) => hold.answer === undefined && hold.untilMs > answer.atMs)) {
    const given = holds.find((hold) => hold.answer !== undefined)?.answer;
    if (given !== undefined) return refused(`${given.by} has ${given.decision} ${runId} already`);
    return refused(`${runId} waits for nobody; see: swapd show ${runId}`);
  }
  const isHalted = modes.some(({ scope, mode }) => mode === "halted" && [GLOBAL_SCOPE, run.strategyId].includes(scope));
  const trades = isHalted
    ? "it signs nothing while it is halted, and ends if that lasts as long as its window: swapd resume"
    : "it is quoted and checked again, and trades";
  const then = answer.decision === "approved" ? trades : "nothing of it is signed";
  return {
    answer: `${answer.decision} ${runId} of ${run.strategyId}: ${then}`,
    changes: [
      { kind: "hold-answered", runId, answer },
      { kind: "alerts-over", subject: SUBJECT.hold(runId) },
    ],
  };
}

function refused(why: string): Outcome {
  return { answer: `refused: ${why}`, changes: [] };
}
