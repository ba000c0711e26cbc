import type { Address } from "../domain/money/address.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Run } from "../domain/run/run.ts";
import type { StepRows } from "../ports/changes.ts";
import type { Decided, Unit, Written } from "../ports/unit-of-work.ts";
import { tellAlerts } from "./alerts.ts";
import { decideStep, swapOfRequest } from "./decide-step.ts";
import type { EngineContext } from "./engine-context.ts";
import { stepQuestion } from "./gather-evidence.ts";

/** Steps a run by an event and commits everything that follows from it, in one transaction. */
export interface Committer {
  commit(answer: Answer): Promise<void>;
  /** The same inside a transaction that is open, for what a lane reports. */
  commitHere(answer: Answer): void;
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
  /** the effect that is answered, gone with the same commit */
  readonly effectId?: number;
}

/** Makes the committer. `onCommitted` is called after each commit, with the wallets whose lanes were handed something. */
export function createCommitter(context: EngineContext, onCommitted: (lanes: readonly Address[]) => void): Committer {
  const { deps } = context;
  const passBefore = (answers: readonly Answer[]): void => {
    for (const { event } of answers) deps.crashPoint(`commit.${event.kind}.before`);
  };
  const write = async (answers: readonly Answer[]): Promise<readonly Written<Step>[]> => {
    passBefore(answers);
    return await deps.store.commit(answers.map((answer) => stepOf(context, answer)));
  };
  const tell = (steps: readonly Written<Step>[]): void => {
    for (const { event } of steps.map(({ value }) => value.answer)) deps.crashPoint(`commit.${event.kind}.after`);
    for (const { value, alerts } of steps) {
      report(context, value.result);
      tellAlerts(deps, alerts);
    }
    onCommitted(steps.flatMap(({ value }) => lanesOf(value.result)));
  };
  /** @returns whether they hold; else nothing is written */
  const commitGroup = async (answers: readonly Answer[]): Promise<boolean> => {
    let steps: readonly Written<Step>[];
    try {
      steps = await write(answers);
    } catch {
      return false;
    }
    tell(steps);
    return true;
  };
  const commit = async (answer: Answer): Promise<void> => tell(await write([answer]));
  let together: { answers: Answer[]; hold: Promise<boolean> } | undefined;
  return {
    commit,
    commitHere: (answer) => {
      passBefore([answer]);
      tell(deps.store.transaction(() => [writeHere(context, answer)]));
    },
    commitTogether: async (answer) => {
      if (together === undefined) {
        const answers: Answer[] = [];
        // What else is answered in this moment has its turn before this one.
        const hold = Promise.resolve().then(async () => {
          together = undefined;
          return await commitGroup(answers);
        });
        together = { answers, hold };
      }
      together.answers.push(answer);
      // Whose error it was shows by itself: it is thrown again here, and for that answer alone.
      if (!(await together.hold)) await commit(answer);
    },
  };
}

/** A step that was taken by an answer. */
interface Step {
  readonly answer: Answer;
  readonly result: StepResult;
}

function stepOf(context: EngineContext, answer: Answer): Unit<"step", Step> {
  const { runId, event } = answer;
  const nowMs = context.deps.clock.nowMs();
  return {
    question: { kind: "step", runId, event, of: stepQuestion(context, nowMs) },
    decide: (rows) => decide(context, { ...rows, rows, nowMs, answer }),
  };
}

function decide(
  context: EngineContext,
  { run, rows, nowMs, answer }: { run: Run; rows: StepRows; nowMs: number; answer: Answer },
): Decided<Step> {
  const { event, effectId } = answer;
  const { result, changes } = decideStep(context, { run, event, rows, nowMs });
  const answered = effectId === undefined ? [] : [{ kind: "effect-answered", effectId } as const];
  return { changes: [...changes, ...answered], atMs: nowMs, value: { answer, result } };
}

function writeHere(context: EngineContext, answer: Answer): Written<Step> {
  const { store, clock } = context.deps;
  const { runId, event } = answer;
  const run = store.run(runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the database`);
  const nowMs = clock.nowMs();
  const rows = store.stepRows(run, event, stepQuestion(context, nowMs));
  const { changes, value } = decide(context, { run, rows, nowMs, answer });
  return { value, alerts: store.write(changes, nowMs) };
}

function lanesOf({ run, records }: StepResult): readonly Address[] {
  const requests = records.flatMap((record) => (record.kind === "transaction" ? [record.request] : []));
  return requests.map(({ id }) => swapOfRequest(run, id).wallet);
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
