import type { DrawdownState } from "../domain/guard/drawdown.ts";
import type { Address } from "../domain/money/address.ts";
import type { UsdPrice } from "../domain/money/price.ts";
import type { Effect } from "../domain/run/effects.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { Run } from "../domain/run/run.ts";
import type { SameEnds } from "../domain/run/same-ends.ts";
import type { SwapState } from "../domain/run/states.ts";
import type { PriceBar } from "../domain/strategy/decision.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { AlertRow, AlertStore } from "./alert-store.ts";
import type { Change, StepQuestion, StepRows } from "./changes.ts";
import type { ReconciliationStore } from "./reconciliation-store.ts";
import type { Answered, Question, QuestionKind, UnitOfWork } from "./unit-of-work.ts";

/** A strategy as the database remembers it. `memory` is versioned JSON; `lastSlotMs` the last slot that has its end or run. */
export interface StrategyRow {
  readonly id: string;
  readonly kind: string;
  readonly specHash: string;
  readonly spec: StrategySpec;
  readonly memory: string;
  readonly lastSlotMs: number;
}

/** An effect that is written down and not yet answered. */
export interface PendingEffect {
  readonly id: number;
  readonly runId: string;
  readonly effect: Effect;
}

/** Looks at open swaps on the chain, routes that are kept for people, everything else, and all but the routes. */
export type EffectGroup = "looks" | "routes" | "others" | "no routes";

/** Equal uneventful slots in a row. */
export interface GapRow {
  readonly strategy: string;
  readonly firstSlotMs: number;
  readonly lastSlotMs: number;
  readonly count: number;
  readonly reason: string;
}

/** Balances that the audit counts from. */
export interface BaselineRow {
  readonly wallet: Address;
  readonly token: Address;
  readonly symbol: string;
  readonly decimals: number;
  readonly blockNumber: number;
  readonly balance: bigint;
}

/** What an operator asked of the running daemon. */
export interface OperatorRequest {
  readonly id: number;
  readonly command: string;
  readonly arguments: Readonly<Record<string, string>>;
  readonly madeBy: string;
  readonly madeAtMs: number;
}

/** Something that is not over, with the wallet it needs; a run that has not decided yet has no swap. */
export interface OpenWork {
  readonly runId: string;
  readonly strategy: string;
  readonly swapId: string | undefined;
  readonly state: string;
  readonly wallet: Address | undefined;
}

/** Rows of runs, swaps and their effects. */
export interface RunStore {
  /** Inserts a due run. @returns false when the strategy already has one for this slot */
  insertRun(run: Run, atMs: number): boolean;
  run(id: string): Run | undefined;
  /** Runs that have not begun, the oldest slots first: asked for at every turn of the engine. */
  dueRuns(limit: number): readonly string[];
  hasOpenRun(strategyId: string): boolean;
  strategiesWithOpenRun(): ReadonlySet<string>;
  /** Swaps that were signed and of which nobody knows yet whether they were done. */
  unsettledSwaps(): readonly string[];
  /** Swaps that have not ended, and runs that are open without any. */
  openWork(): readonly OpenWork[];
  swapState(swapId: string): SwapState | undefined;
  runOfIntent(intentId: string): { readonly runId: string; readonly swapId: string } | undefined;
  /** Whether this transaction belongs to another swap or transaction of ours than the given swap. */
  hashOfOther(hash: string, swapId: string): boolean;
  /** Canonical JSON of the typed data that is to be signed with this digest. */
  intendedSignature(digest: string): string | undefined;
  /** Those of a group, the longest due first. */
  dueEffects(nowMs: number, limit: number, group: EffectGroup): readonly PendingEffect[];
  nextEffectMs(): number | undefined;
  /** Counts a beginning of an effect, durably, before it is performed. @returns how often it was begun before */
  beginEffect(id: number): number;
  /** Leaves it to be done again, behind whatever is due by now: nothing came of its last beginning. */
  postponeEffect(id: number, atMs: number): void;
  /** Makes due what was written by a clock that ran ahead of this instant and is to wait until then. */
  hastenEffects(nowMs: number): void;
}

/** A block that is final. */
export interface FinalBlock {
  readonly number: number;
  /** Unix seconds */
  readonly timestamp: number;
}

/** Sums over what all runs share. */
export interface LedgerStore {
  /**
   * Changes whenever a reservation, a fill or a release of a swap is written that the wallet pays for or receives, of any
   * wallet where none is named: a reading of its balances older than a change is stale.
   */
  ledgerVersion(wallet?: Address): number;
  reserved(wallet: Address, token: Address, exceptSwapId?: string): bigint;
  /** sold by a strategy over its life, reserved included, by token */
  soldBy(strategyId: string): ReadonlyMap<Address, bigint>;
  /** bought by a strategy over its life, as measured, by token */
  boughtBy(strategyId: string): ReadonlyMap<Address, bigint>;
  /**
   * What all swaps brought a wallet of a token, those of other wallets too, less what its own sold of it.
   * @returns undefined while a swap that moves the wallet's balance of it is open, because that is on the move
   */
  netOfSwaps(wallet: Address, token: Address): bigint | undefined;
  /**
   * The newest block in which a fill or an own transaction of the wallet, or a fill of another wallet's swap that delivers
   * to it, was seen and is not taken back; 0 without any.
   */
  newestBlock(wallet: Address): number;
  /** whether a confirmed swap ever brought this wallet the token */
  hasBought(wallet: Address, token: Address): boolean;
  /** dollars (1e-18) sold since an instant, by when it was seen to be, and all that are reserved */
  soldUsdSince(sinceMs: number, exceptSwapId: string): bigint;
  /**
   * Lets sales that were seen to be after an instant count from another one on, in whole milliseconds.
   * @returns how many there were, and the latest instant at which one was seen to be
   */
  settleAnew(times: { readonly afterMs: number; readonly atMs: number }): {
    readonly count: number;
    readonly latestMs: number;
  };
  isTokenBusy(wallet: Address, token: Address, exceptSwapId: string): boolean;
  /** The last swap that could take this token and came to its end: what was read before it did is old. */
  lastFreed(wallet: Address, token: Address): string | undefined;
  /** allowances granted once, whose wallet and token have nothing open now */
  idleGrants(): readonly { readonly wallet: Address; readonly token: Address; readonly spender: Address }[];
  /** strategies whose swaps granted allowances of a wallet's token that are not forgotten yet */
  grantors(wallet: Address, token: Address): readonly string[];
  /**
   * Whether what was signed here may still change what a wallet allows of a token, after a block that is final: then its
   * allowance at that block says nothing of what it will be. An approval or revocation is not final, because a fork that
   * took it back may bring it again; or it was mined above that block, which a node that is behind calls its newest; or
   * a permit may still be brought to the token after it.
   */
  isAllowanceOpen(wallet: Address, token: Address, final: FinalBlock): boolean;
  /**
   * To be called when a final block shows no allowance. Not while that is open, nor while a swap is confirmed and not
   * final: without it, what a fork leaves of its approval could still be taken. Nor by a block below the one in which a
   * foreign allowance was seen.
   */
  forgetGrant(grant: { wallet: Address; token: Address; spender: Address }, final: FinalBlock): void;
}

/** Rows of the daemon's own life. */
export interface OperationStore {
  identity(): { readonly network: string; readonly chainId: number } | undefined;
  saveIdentity(identity: { network: string; chainId: number; atMs: number }): void;
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
  /** Counts a price (dollars scaled by 1e18) into the bar of its hour. */
  addPriceSample(token: Address, atMs: number, usd: UsdPrice): void;
  /** Bars from the hour of `sinceMs` on, oldest first. */
  priceBars(token: Address, sinceMs: number): readonly PriceBar[];
  /** Drops the bars of hours that were over before what is kept begins, and of those that begin after it. */
  prunePriceBars(token: Address, kept: { readonly sinceMs: number; readonly untilMs: number }): void;
  /** What swaps of these wallets bought of a token for anybody else, as measured. */
  deliveredToOthers(wallets: readonly Address[], token: Address): bigint;
  /** The value of the wallets over time, undefined before its first sample. */
  drawdown(): DrawdownState | undefined;
  saveDrawdown(state: DrawdownState, atMs: number): void;
  hasBaseline(wallet: Address, token: Address): boolean;
  addBaseline(row: BaselineRow): void;
  addRequest(request: { command: string; arguments: Record<string, string>; madeBy: string; madeAtMs: number }): number;
  openRequests(): readonly OperatorRequest[];
  answerRequest(id: number, answer: string, atMs: number): void;
  /** what came of a request, undefined while it was not taken */
  answerOf(id: number): string | undefined;
  /** When the daemon was last known to be at work; undefined before its first life. */
  lastAliveMs(): number | undefined;
  noteAlive(atMs: number): void;
  addDaemonEvent(kind: string, detail: string, atMs: number): void;
}

/** The daemon's database. Everything written inside `transaction` is durable together, or not at all. */
export interface Store extends RunStore, LedgerStore, OperationStore, AlertStore, ReconciliationStore, UnitOfWork {
  /**
   * The rows that a step is decided on, read whole.
   * @throws Error when the run's strategy has no row: a broken invariant
   */
  stepRows(run: Run, event: RunEvent, asked: StepQuestion): StepRows;
  /** The same as `read`, at once: for synchronous work inside of `transaction`. */
  answer<K extends QuestionKind>(question: Question<K>): Answered<K>;
  /** Writes changes in their order. @returns the alerts and messages that are new: they are still to be told */
  write(changes: readonly Change[], atMs: number): readonly AlertRow[];
  /** Runs synchronous work in one durable transaction; a nested call joins it. */
  transaction<T>(work: () => T): T;
}
