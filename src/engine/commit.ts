import type { Address } from "../domain/money/address.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Decided } from "../ports/changes.ts";
import type { LaneStore } from "../ports/lane-unit-of-work.ts";
import type { Answered } from "../ports/questions.ts";
import type { Unit } from "../ports/unit-of-work.ts";
import { decideStep } from "./decide-step.ts";
import type { EngineContext } from "./engine-context.ts";
import { stepQuestion } from "./gather-evidence.ts";
import { createLaneStore } from "./lane-store.ts";
import { createStepReporter, type Step } from "./report-steps.ts";

/** Steps a run by an event and commits everything that follows from it, in one transaction. */
export interface Committer {
  commit(answer: Answer): Promise<void>;
  /** The rows as lanes use them: each report of a lane steps the run that asked for the transaction. */
  readonly laneStore: LaneStore;
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
  const reportSteps = createStepReporter(context, onCommitted);
  return {
    commit: async (answer) => {
      const { event } = answer;
      deps.crashPoint(`commit.${event.kind}.before`);
      reportSteps(await deps.store.commit([stepOf(context, answer)]));
    },
    laneStore: createLaneStore(context, reportSteps),
  };
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
  return { changes: [...changes, ...answered], atMs: nowMs, value: { event, result, prices: rows.prices } };
}
