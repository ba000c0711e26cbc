import { NO_FAILURES } from "../domain/guard/consequence.ts";
import type { Address } from "../domain/money/address.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import { alertChanges, wantsNothing } from "../domain/run/alert-changes.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { RunRecord } from "../domain/run/records.ts";
import type { Run, Swap } from "../domain/run/run.ts";
import { endOfRun } from "../domain/run/same-ends.ts";
import { isRunEnd } from "../domain/run/states.ts";
import { step } from "../domain/run/step.ts";
import { pauseByRule, type RaisedAlert, raiseAlerts, tellAlerts } from "./alerts.ts";
import { type EngineContext, laneOf } from "./engine-context.ts";
import { gatherEvidence } from "./gather-evidence.ts";
import { fillMessages } from "./messages.ts";
import { noteEnd } from "./same-ends.ts";

/** Steps a run by an event and commits everything that follows from it, in one transaction. */
export interface Committer {
  /**
   * @param effectId the effect that this event answers, marked as done in the same commit
   */
  commit(runId: string, event: RunEvent, effectId?: number): void;
  /**
   * The same, in one transaction with the other answers of this moment: those of looks that travelled together come
   * together. Only for answers that nothing which is committed meanwhile can make stale. Where one of them breaks an
   * invariant, each is committed by itself: a run that can never go on must not keep the others from what became of them.
   */
  commitTogether(answer: Answer): Promise<void>;
}

/** The answer of an effect, as the next event of a run. */
export interface Answer {
  readonly runId: string;
  readonly event: RunEvent;
  /** the effect that is answered, marked as done in the same commit */
  readonly effectId: number | undefined;
}

/** Makes the committer. `onCommitted` is called after each commit, with the wallets whose lanes were handed something. */
export function createCommitter(context: EngineContext, onCommitted: (lanes: readonly Address[]) => void): Committer {
  const { deps } = context;
  const write = (answers: readonly Answer[]): readonly Written[] => {
    for (const { event } of answers) deps.crashPoint(`commit.${event.kind}.before`);
    return deps.store.transaction(() => answers.map((answer) => ({ answer, ...commitStep(context, answer) })));
  };
  const tell = (steps: readonly Written[]): void => {
    for (const { event } of steps.map(({ answer }) => answer)) deps.crashPoint(`commit.${event.kind}.after`);
    for (const { result, alerts } of steps) {
      report(context, result);
      tellAlerts(deps, alerts);
    }
    onCommitted(steps.flatMap(({ result }) => lanesOf(result)));
  };
  /** @returns whether they hold; else nothing is written */
  const commitGroup = (answers: readonly Answer[]): boolean => {
    let steps: readonly Written[];
    try {
      steps = write(answers);
    } catch {
      return false;
    }
    tell(steps);
    return true;
  };
  let together: { answers: Answer[]; hold: Promise<boolean> } | undefined;
  return {
    commit: (runId, event, effectId) => tell(write([{ runId, event, effectId }])),
    commitTogether: async (answer) => {
      if (together === undefined) {
        const answers: Answer[] = [];
        // What else is answered in this moment has its turn before this one.
        const hold = Promise.resolve().then(() => {
          together = undefined;
          return commitGroup(answers);
        });
        together = { answers, hold };
      }
      together.answers.push(answer);
      // Whose error it was shows by itself: it is thrown again here, and for that answer alone.
      if (!(await together.hold)) tell(write([answer]));
    },
  };
}

/** An answer that was written, with what is to be told of it. */
type Written = { readonly answer: Answer } & ReturnType<typeof commitStep>;

function lanesOf({ run, records }: StepResult): readonly Address[] {
  const requests = records.flatMap((record) => (record.kind === "transaction" ? [record.request] : []));
  return requests.map(({ id }) => swapOfRequest(run, id).wallet);
}

function swapOfRequest(run: Run, requestId: string): Swap {
  const swap = run.swaps.find((candidate) => requestId.startsWith(`${candidate.id}.`));
  if (swap === undefined) throw new Error(`transaction ${requestId} belongs to no swap of run ${run.id}`);
  return swap;
}

function commitStep(context: EngineContext, answer: Answer): { result: StepResult; alerts: readonly RaisedAlert[] } {
  const { store, clock } = context.deps;
  const run = store.run(answer.runId);
  if (run === undefined) throw new Error(`run ${answer.runId} is not in the database`);
  const nowMs = clock.nowMs();
  const evidence = gatherEvidence(context, run, answer.event);
  const result = step(run, answer.event, evidence);
  // A look that found nothing new changes nothing: a waiting swap is not written anew every few seconds.
  if (result.run !== run) {
    store.saveRun(result.run, result.transitions, nowMs, run);
    store.addStep(run.id, { event: answer.event, evidence });
  }
  for (const record of result.records) writeRecord(context, result.run, record, nowMs);
  store.addEffects(run.id, result.effects, nowMs);
  if (answer.effectId !== undefined) store.finishEffect(answer.effectId, nowMs);
  const alerts = [...alertsOfStep(context, result), ...pauseAfterFailures(context, run, result, nowMs)];
  const ended = isRunEnd(result.run.state) && !isRunEnd(run.state) ? endOfRun(result.run) : undefined;
  const alike = ended === undefined ? [] : noteEnd(context, run.strategyId, ended);
  return { result, alerts: [...alerts, ...alike, ...fillMessages(context, result)] };
}

/** A price that wavers around a trigger makes no alert of every crossing. */
const SHORTEST_WANT_MS = 10 * 60_000;

function alertsOfStep({ deps }: EngineContext, result: StepResult): readonly RaisedAlert[] {
  const { over, raised } = alertChanges(result);
  const { strategyId, id } = result.run;
  const atMs = deps.clock.nowMs();
  for (const subject of over) deps.store.endAlerts(subject, atMs);
  if (wantsNothing(result)) {
    deps.store.endAlertsOfWants(strategyId, { raisedUntilMs: atMs - SHORTEST_WANT_MS, atMs });
  }
  return raiseAlerts(deps, raised, { strategy: strategyId, runId: id });
}

function writeRecord(context: EngineContext, run: Run, record: RunRecord, nowMs: number): void {
  context.deps.store.writeRecord(run, record, nowMs);
  if (record.kind === "pause") {
    const reason = `${record.pause.code}: ${record.pause.detail}`;
    pauseByRule(context.deps, { scope: run.strategyId, mode: "paused", setBy: "strategy", reason });
  }
  if (record.kind !== "transaction") return;
  const { request } = record;
  laneOf(context, swapOfRequest(run, request.id).wallet).submit(request);
}

/**
 * The owner's rule: a strategy that fails too often in a while only leaves positions until a person looks. A stop goes on:
 * what it costs when it fails is bounded by its own rules, and what it would cost when it does not act is not. Runs that
 * lacked node, service or price are no failures of the strategy.
 */
function pauseAfterFailures(
  context: EngineContext,
  before: Run,
  result: StepResult,
  nowMs: number,
): readonly RaisedAlert[] {
  if (result.run.state !== "failed" || before.state === "failed") return [];
  if (NO_FAILURES.includes(result.run.reason ?? "")) return [];
  const { store } = context.deps;
  const { failures, withinSeconds } = context.settings.policy.pauseAfter;
  const count = store.failuresSince(before.strategyId, nowMs - withinSeconds * 1_000, NO_FAILURES);
  if (count < failures) return [];
  const reason = `${count} failed runs within ${withinSeconds} s, the last one: ${result.run.reason ?? "no reason"}`;
  const scope = before.strategyId;
  if (!pauseByRule(context.deps, { scope, mode: "exits-only", setBy: "policy", reason })) return [];
  const text = `${scope} only leaves positions from now on, by the policy: ${reason}; go on with: swapd resume ${scope}`;
  const alert = { severity: "warning", code: "STRATEGY_EXITS_ONLY", subject: SUBJECT.mode(scope), text } as const;
  return raiseAlerts(context.deps, [alert], { strategy: scope, runId: before.id });
}

function report({ deps: { logger } }: EngineContext, result: StepResult): void {
  for (const transition of result.transitions) {
    logger.info(
      {
        strategy: result.run.strategyId,
        [transition.subject === "run" ? "runId" : "swapId"]: transition.subjectId,
        from: transition.from,
        to: transition.to,
        reason: transition.reason,
        detail: transition.detail,
      },
      `${transition.subject} ${transition.to}`,
    );
  }
}
