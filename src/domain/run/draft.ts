import type { Effect, EffectRequest } from "./effects.ts";
import type { RunRecord, Transition } from "./records.ts";
import { type Run, type Swap, swapOf } from "./run.ts";
import { assertRunTransition, assertSwapTransition, type RunState, type SwapState } from "./states.ts";

/** What a step answers: the new state, and everything to commit with it. */
export interface StepResult {
  readonly run: Run;
  readonly transitions: readonly Transition[];
  readonly records: readonly RunRecord[];
  readonly effects: readonly EffectRequest[];
}

/** A step in the making. All moves go through it, so no state changes without a transition row. */
export interface Draft {
  run(): Run;
  swap(swapId: string): Swap;
  moveRun(to: RunState, why?: { reason?: string; detail?: string }): void;
  moveSwap(swapId: string, to: SwapState, change?: Partial<Swap>, detail?: string): void;
  /** Changes fields of a swap that are no state. */
  amendSwap(swapId: string, change: Partial<Swap>): void;
  /** Changes fields of the run that are no state. */
  amendRun(change: Pick<Run, "retries">): void;
  addSwap(swap: Swap): void;
  record(record: RunRecord): void;
  effect(effect: Effect, notBeforeMs: number): void;
  result(): StepResult;
}

/** Starts a step from a run. */
export function createDraft(start: Run): Draft {
  let run = start;
  const transitions: Transition[] = [];
  const records: RunRecord[] = [];
  const effects: EffectRequest[] = [];
  const replace = (swap: Swap): void => {
    run = { ...run, swaps: run.swaps.map((other) => (other.id === swap.id ? swap : other)) };
  };
  return {
    run: () => run,
    swap: (swapId) => swapOf(run, swapId),
    moveRun: (to, why = {}) => {
      assertRunTransition(run.state, to);
      transitions.push({
        subject: "run",
        subjectId: run.id,
        from: run.state,
        to,
        reason: why.reason,
        detail: why.detail,
      });
      run = { ...run, state: to, reason: why.reason, detail: why.detail };
    },
    moveSwap: (swapId, to, change = {}, detail) => {
      const swap = swapOf(run, swapId);
      assertSwapTransition(swap.state, to);
      transitions.push({ subject: "swap", subjectId: swapId, from: swap.state, to, reason: change.reason, detail });
      replace({ ...swap, ...change, state: to });
    },
    amendSwap: (swapId, change) => replace({ ...swapOf(run, swapId), ...change }),
    amendRun: (change) => {
      run = { ...run, ...change };
    },
    addSwap: (swap) => {
      run = { ...run, swaps: [...run.swaps, swap] };
      transitions.push({
        subject: "swap",
        subjectId: swap.id,
        from: undefined,
        to: swap.state,
        reason: undefined,
        detail: undefined,
      });
    },
    record: (record) => records.push(record),
    effect: (effect, notBeforeMs) => effects.push({ effect, notBeforeMs }),
    result: () => ({ run, transitions, records, effects }),
  };
}
