import type { Address } from "../../../domain/money/address.ts";
import type { EffectRequest } from "../../../domain/run/effects.ts";
import type { PriceEvidence, RunRecord, Transition } from "../../../domain/run/records.ts";
import type { StepInput } from "../../../domain/run/replay.ts";
import type { Run } from "../../../domain/run/run.ts";
import type { SameEnds } from "../../../domain/run/same-ends.ts";
import type { PriceBar } from "../../../domain/strategy/decision.ts";
import type { AlertRow, TrueWarning } from "../../../ports/alert-store.ts";
import type { Store } from "../../../ports/store.ts";
import type { UnitOfWork } from "../../../ports/unit-of-work.ts";

/** Rows of the ledger, over what all runs share. */
export interface LedgerRows {
  reserved(wallet: Address, token: Address, exceptSwapId?: string): bigint;
  /** sold by a strategy over its life, reserved included, by token */
  soldBy(strategyId: string): ReadonlyMap<Address, bigint>;
  /** bought by a strategy over its life, as measured, by token */
  boughtBy(strategyId: string): ReadonlyMap<Address, bigint>;
  /**
   * The newest block in which a fill or an own transaction of the wallet, or a fill of another wallet's swap that delivers
   * to it, was seen and is not taken back; 0 without any.
   */
  newestBlock(wallet: Address): number;
  /** whether a confirmed swap ever brought this wallet the token */
  hasBought(wallet: Address, token: Address): boolean;
  /** dollars (1e-18) sold since an instant, by when it was seen to be, and all that are reserved */
  soldUsdSince(sinceMs: number, exceptSwapId: string): bigint;
  /** The last swap that could take this token and came to its end: what was read before it did is old. */
  lastFreed(wallet: Address, token: Address): string | undefined;
  /** Whether another swap of the wallet was ever bound to this nonce. */
  isNonceOfOther(wallet: Address, nonce: bigint, exceptSwapId: string): boolean;
  /** failed runs of a strategy that ended from an instant up to another, without those that ended with one of these reasons */
  failuresBetween(
    strategyId: string,
    range: { readonly sinceMs: number; readonly untilMs: number },
    except: readonly string[],
  ): number;
}

/** Rows one by one, of which changes are written and the questions of a step are answered. */
export interface SingleRows extends LedgerRows {
  /** Writes the run's new state with its transitions, and those swaps that are not the ones it had before. */
  saveRun(run: Run, transitions: readonly Transition[], atMs: number, before?: Run): void;
  /** Keeps what a step was taken from, so that it can be taken again. */
  addStep(runId: string, step: StepInput): void;
  /** The prices that a swap was cleared by; undefined before that. */
  clearancePrices(swapId: string): PriceEvidence | undefined;
  /** Whether this transaction belongs to another swap or transaction of ours than the given swap. */
  hashOfOther(hash: string, swapId: string): boolean;
  /** Canonical JSON of the typed data that is to be signed with this digest. */
  intendedSignature(digest: string): string | undefined;
  addEffects(runId: string, effects: readonly EffectRequest[], atMs: number): void;
  finishEffect(id: number, atMs: number): void;
  writeRecord(run: Run, record: RunRecord, atMs: number): void;
  /** Bars from the hour of `sinceMs` on, oldest first. */
  priceBars(token: Address, sinceMs: number): readonly PriceBar[];
  /** How the last slots of strategies came to nothing for one reason, by strategy; no entry after a trade. */
  sameEndsOf(strategyIds: readonly string[]): ReadonlyMap<string, SameEnds>;
  /** All that people are warned of now. */
  warnings(): readonly TrueWarning[];
  /** Slots of a strategy that have a run, from an instant on. */
  slotsWithRun(strategyId: string, fromMs: number): readonly number[];
  /** How often an effect was begun. */
  begun(effectId: number): number;
  saveSameEnds(strategyId: string, ends: SameEnds | undefined): void;
  /** Writes an alert down. @returns false when the same code is true of the same subject already: then nothing is new */
  raiseAlert(alert: AlertRow): boolean;
  /**
   * Writes down something that happened and is not true for a while: it is over at once, and it is sent whatever its
   * severity. @returns false when this very message, by its id, was written before
   */
  addMessage(message: AlertRow): boolean;
  /** Ends what was said of services that are configured no more. @param hosts of those that are */
  endAlertsOfOtherServices(hosts: readonly string[], atMs: number): void;
  /**
   * A strategy wants nothing now: ends what kept it from trading when it last wanted something, where that was said until
   * an instant. What is critical stays.
   */
  endAlertsOfWants(strategyId: string, when: { readonly raisedUntilMs: number; readonly atMs: number }): void;
}

/** The store without what is put together from single rows, and these. */
export type RowStore = Omit<Store, "stepRows" | "write" | keyof UnitOfWork> & SingleRows;
