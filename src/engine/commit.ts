import type { Address } from "../domain/money/address.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Answered, Decided, Unit, Written } from "../ports/unit-of-work.ts";
import { tellAlerts } from "./alerts.ts";
import { decideStep, swapOfRequest } from "./decide-step.ts";
import type { EngineContext } from "./engine-context.ts";
import { stepQuestion } from "./gather-evidence.ts";

/** Steps a run by an event and commits everything that follows from it, in one transaction. */
export interface Committer {
  commit(answer: Answer): Promise<void>;
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
  readonly effectId?: number;
}

/** Tells of steps that are committed. */
export type TellSteps = (steps: readonly Written<Step>[]) => void;

/** Tells logs and people of steps, and `onCommitted` which wallets' lanes were handed something. */
export function createTeller(context: EngineContext, onCommitted: (lanes: readonly Address[]) => void): TellSteps {
  const { deps } = context;
  return (steps) => {
    for (const { value } of steps) deps.crashPoint(`commit.${value.event.kind}.after`);
    for (const { value, alerts } of steps) {
      report(context, value.result);
      tellAlerts(deps, alerts);
    }
    onCommitted(steps.flatMap(({ value }) => lanesOf(value.result)));
  };
}

/** Makes the committer. */
export function createCommitter(context: EngineContext, tell: TellSteps): Committer {
  const { deps } = context;
  const write = async (answers: readonly Answer[]): Promise<readonly Written<Step>[]> => {
    for (const { event } of answers) deps.crashPoint(`commit.${event.kind}.before`);
    return await deps.store.commit(answers.map((answer) => stepOf(context, answer)));
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

/** A step that was taken. */
export interface Step {
  readonly event: RunEvent;
  readonly result: StepResult;
}

function stepOf(context: EngineContext, answer: Answer): Unit<"step", Step> {
  const { runId, event } = answer;
  const nowMs = context.deps.clock.nowMs();
  return {
    question: { kind: "step", runId, event, of: stepQuestion(context, nowMs) },
    decide: (rows) => decide(context, { rows, nowMs, answer }),
  };
}

function decide(
  context: EngineContext,
  { rows, nowMs, answer }: { rows: Answered<"step">; nowMs: number; answer: Answer },
): Decided<Step> {
  const { event, effectId } = answer;
  const { result, changes } = decideStep(context, { run: rows.run, event, rows, nowMs });
  const answered = effectId === undefined ? [] : [{ kind: "effect-answered", effectId } as const];
  return { changes: [...changes, ...answered], atMs: nowMs, value: { event, result } };
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
