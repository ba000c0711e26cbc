import type { Address } from "../../../domain/money/address.ts";
import type { EffectRequest } from "../../../domain/run/effects.ts";
import type { PriceEvidence, RunRecord, Transition } from "../../../domain/run/records.ts";
import type { StepInput } from "../../../domain/run/replay.ts";
import type { Run } from "../../../domain/run/run.ts";
import type { SameEnds } from "../../../domain/run/same-ends.ts";
import type { AlertRow } from "../../../ports/alert-store.ts";
import type { Store } from "../../../ports/store.ts";
import type { UnitOfWork } from "../../../ports/unit-of-work.ts";

/** Rows one by one, of which changes are written and the questions of a step are answered. */
export interface SingleRows {
  /** Writes the run's new state with its transitions, and those swaps that are not the ones it had before. */
  saveRun(run: Run, transitions: readonly Transition[], atMs: number, before?: Run): void;
  /** Keeps what a step was taken from, so that it can be taken again. */
  addStep(runId: string, step: StepInput): void;
  /** The prices that a swap was cleared by; undefined before that. */
  clearancePrices(swapId: string): PriceEvidence | undefined;
  addEffects(runId: string, effects: readonly EffectRequest[], atMs: number): void;
  finishEffect(id: number, atMs: number): void;
  writeRecord(run: Run, record: RunRecord, atMs: number): void;
  /** Whether another swap of the wallet was ever bound to this nonce. */
  isNonceOfOther(wallet: Address, nonce: bigint, exceptSwapId: string): boolean;
  /** failed runs of a strategy that ended from an instant up to another, without those that ended with one of these reasons */
  failuresBetween(
    strategyId: string,
    range: { readonly sinceMs: number; readonly untilMs: number },
    except: readonly string[],
  ): number;
  saveSameEnds(strategyId: string, ends: SameEnds | undefined): void;
  /** Writes an alert down. @returns false when the same code is true of the same subject already: then nothing is new */
  raiseAlert(alert: AlertRow): boolean;
  /**
   * Writes down something that happened and is not true for a while: it is over at once, and it is sent whatever its
   * severity. @returns false when this very message, by its id, was written before
   */
  addMessage(message: AlertRow): boolean;
  /**
   * A strategy wants nothing now: ends what kept it from trading when it last wanted something, where that was said until
   * an instant. What is critical stays.
   */
  endAlertsOfWants(strategyId: string, when: { readonly raisedUntilMs: number; readonly atMs: number }): void;
}

/** The store without what is put together from single rows, and these. */
export type RowStore = Omit<Store, "stepRows" | "answer" | "write" | keyof UnitOfWork> & SingleRows;
