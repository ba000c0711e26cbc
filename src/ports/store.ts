import type { Address } from "../domain/money/address.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { Run } from "../domain/run/run.ts";
import type { SameEnds } from "../domain/run/same-ends.ts";
import type { AlertRow, AlertStore } from "./alert-store.ts";
import type { Change, StepQuestion, StepRows } from "./changes.ts";
import type { EffectGroup, GapRow, OperatorRequest, PendingEffect, StrategyRow } from "./daemon-rows.ts";
import type { ReconciliationStore } from "./reconciliation-store.ts";
import type { RetentionStore } from "./retention-store.ts";
import type { Answered, Question, QuestionKind, UnitOfWork } from "./unit-of-work.ts";

/** Rows of runs, swaps and their effects. */
export interface RunStore {
  /** Inserts a due run. @returns false when the strategy already has one for this slot */
  insertRun(run: Run, atMs: number): boolean;
  run(id: string): Run | undefined;
  /** Runs that have not begun, the oldest slots first: asked for at every turn of the engine. */
  dueRuns(limit: number): readonly string[];
  hasOpenRun(strategyId: string): boolean;
  strategiesWithOpenRun(): ReadonlySet<string>;
  runOfIntent(intentId: string): { readonly runId: string; readonly swapId: string } | undefined;
  /** Those of a group, the longest due first. */
  dueEffects(nowMs: number, limit: number, group: EffectGroup): readonly PendingEffect[];
  nextEffectMs(): number | undefined;
  /** Counts a beginning of an effect, durably, before it is performed. @returns how often it was begun before */
  beginEffect(id: number): number;
  /** Leaves it to be done again, behind whatever is due by now: nothing came of its last beginning. */
  postponeEffect(id: number, atMs: number): void;
}

/** Sums over what all runs share. */
export interface LedgerStore {
  /**
   * Changes whenever a reservation, a fill or a release of a swap is written that the wallet pays for or receives, of any
   * wallet where none is named: a reading of its balances older than a change is stale.
   */
  ledgerVersion(wallet?: Address): number;
  /**
   * What all swaps brought a wallet of a token, those of other wallets too, less what its own sold of it.
   * @returns undefined while a swap that moves the wallet's balance of it is open, because that is on the move
   */
  netOfSwaps(wallet: Address, token: Address): bigint | undefined;
}

/** Rows of the daemon's own life. */
export interface OperationStore {
  strategy(id: string): StrategyRow | undefined;
  saveStrategy(row: StrategyRow, atMs: number): void;
  /** The last handled slots of these strategies; one that is not known has no entry. */
  lastSlots(strategyIds: readonly string[]): ReadonlyMap<string, number>;
  setLastSlot(strategyId: string, lastSlotMs: number): void;
  /** Marks all strategies but these as gone: they have no file. */
  markGone(strategyIds: readonly string[]): void;
  /** Strategies that were marked as gone and did not come back. */
  goneStrategies(): ReadonlySet<string>;
  /** A strategy's file is there again, and slots up to an instant have their end. */
  comeBack(strategyId: string, lastSlotMs: number): void;
  mode(scope: string): ModeRow | undefined;
  modes(): readonly ModeRow[];
  setMode(row: ModeRow): void;
  /** Records slots without a run; joins the strategy's last gap when it ended at `joinsAtMs` for the same reason. */
  addGap(gap: GapRow, joinsAtMs: number, atMs: number): void;
  /** How the last slots of a strategy came to nothing for one reason; undefined after a trade. */
  sameEnds(strategyId: string): SameEnds | undefined;
  addRequest(request: { command: string; arguments: Record<string, string>; madeBy: string; madeAtMs: number }): number;
  openRequests(): readonly OperatorRequest[];
  answerRequest(id: number, answer: string, atMs: number): void;
  /** what came of a request, undefined while it was not taken */
  answerOf(id: number): string | undefined;
  /** When the daemon was last known to be at work; undefined before its first life. */
  lastAliveMs(): number | undefined;
  addDaemonEvent(kind: string, detail: string, atMs: number): void;
}

/** The daemon's database. Everything written inside `transaction` is durable together, or not at all. */
export interface Store
  extends RunStore,
    LedgerStore,
    OperationStore,
    AlertStore,
    ReconciliationStore,
    RetentionStore,
    UnitOfWork {
  /**
   * The rows that a step is decided on, read whole.
   * @throws Error when the run's strategy has no row: a broken invariant
   */
  stepRows(run: Run, event: RunEvent, asked: StepQuestion): StepRows;
  /** What `read` answers, inside a transaction that is open: for what is asked and written without waiting. */
  answer<K extends QuestionKind>(question: Question<K>): Answered<K>;
  /** Writes changes in their order. @returns the alerts and messages that are new: they are still to be told */
  write(changes: readonly Change[], atMs: number): readonly AlertRow[];
  /** Runs synchronous work in one durable transaction; a nested call joins it. */
  transaction<T>(work: () => T): T;
}
