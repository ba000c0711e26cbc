import type { Address } from "../domain/money/address.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { RunEvent } from "../domain/run/events.ts";
import { type RaisedAlert, tellAlerts } from "./alerts.ts";
import { decideStep, swapOfRequest } from "./decide-step.ts";
import type { EngineContext } from "./engine-context.ts";
import { stepQuestion } from "./gather-evidence.ts";

/** Steps a run by an event and commits everything that follows from it, in one transaction. */
export interface Committer {
  /**
   * @param effectId the effect that this event answers, gone with the same commit
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
  /** the effect that is answered, gone with the same commit */
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
interface Written {
  readonly answer: Answer;
  readonly result: StepResult;
  readonly alerts: readonly RaisedAlert[];
}

function lanesOf({ run, records }: StepResult): readonly Address[] {
  const requests = records.flatMap((record) => (record.kind === "transaction" ? [record.request] : []));
  return requests.map(({ id }) => swapOfRequest(run, id).wallet);
}

function commitStep(context: EngineContext, { runId, event, effectId }: Answer): Omit<Written, "answer"> {
  const { store, clock } = context.deps;
  const run = store.run(runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the database`);
  const nowMs = clock.nowMs();
  const rows = store.stepRows(run, event, stepQuestion(context, run.strategyId, nowMs));
  const { result, changes } = decideStep(context, { run, event, rows, nowMs });
  const answered = effectId === undefined ? [] : [{ kind: "effect-answered", effectId } as const];
  return { result, alerts: store.write([...changes, ...answered], nowMs) };
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
