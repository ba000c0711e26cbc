import type { DrawdownState } from "../../../domain/guard/drawdown.ts";
import type { Address, Hex } from "../../../domain/money/address.ts";
import type { UsdPrice } from "../../../domain/money/price.ts";
import type { EffectRequest } from "../../../domain/run/effects.ts";
import type { Hold, HoldAnswer } from "../../../domain/run/hold.ts";
import type { TradedBeside } from "../../../domain/run/measure-fill.ts";
import type { PriceEvidence, RunRecord, Transition } from "../../../domain/run/records.ts";
import type { StepInput } from "../../../domain/run/replay.ts";
import type { Run, Swap } from "../../../domain/run/run.ts";
import type { SameEnds } from "../../../domain/run/same-ends.ts";
import type { SwapState } from "../../../domain/run/states.ts";
import type { CalendarPeriod } from "../../../domain/schedule/calendar-period.ts";
import type { PriceBar } from "../../../domain/strategy/decision.ts";
import type { AlertRow, TrueWarning } from "../../../ports/alert-store.ts";
import type { BootInstant } from "../../../ports/clock.ts";
import type { EffectGroup, PendingEffect } from "../../../ports/daemon-rows.ts";
import type { Grant } from "../../../ports/reconciliation-questions.ts";
import type { DatabaseState, Difference, Finding, KnownChain } from "../../../ports/reconciliation-store.ts";
import type { ClosedGaps, IdleGaps, RetentionResult, RetentionSlice } from "../../../ports/retention-store.ts";
import type { BaselineRow, Counted, DigestMark, OpenWork } from "../../../ports/watch-questions.ts";
import type { LedgerRows, LedgerStore } from "./ledger-store.ts";
import type { OperationStore } from "./operation-store.ts";

/** Rows one by one, of which changes are written and the questions of a step are answered. */
export interface SingleRows extends LedgerRows {
  /** Writes the run's new state with its transitions, and those swaps that are not the ones it had before. */
  saveRun(run: Run, transitions: readonly Transition[], atMs: number, before?: Run): void;
  /** Keeps what a step was taken from, so that it can be taken again. */
  addStep(runId: string, step: StepInput): void;
  /** The prices that a swap was cleared by; undefined before that. */
  clearancePrices(swapId: string): PriceEvidence | undefined;
  /**
   * Whether this transaction is one of our own, or fills another swap than the given one that sells the same of the same
   * wallet: one transaction may fill several orders.
   */
  hashOfOther(hash: string, swap: { readonly id: string; readonly wallet: Address; readonly token: Address }): boolean;
  /** Other swaps that share a side with one, and that the transaction fills, or whose fill is not known yet. */
  filledBeside(
    swapId: string,
    hash: Hex,
    sides: TradedBeside,
  ): readonly { readonly runId: string; readonly id: string }[];
  /** Canonical JSON of the typed data that is to be signed with this digest. */
  intendedSignature(digest: string): string | undefined;
  addEffects(runId: string, effects: readonly EffectRequest[], atMs: number): void;
  /** Forgets an effect that is answered. Its id is never given again. */
  finishEffect(id: number): void;
  writeRecord(run: Run, record: RunRecord, atMs: number): void;
  /** Bars from the hour of `sinceMs` on, oldest first. */
  priceBars(token: Address, sinceMs: number): readonly PriceBar[];
  /** How the last slots of strategies came to nothing for one reason, by strategy; no entry after a trade. */
  sameEndsOf(strategyIds: readonly string[]): ReadonlyMap<string, SameEnds>;
  /** All that people are warned of now. */
  warnings(): readonly TrueWarning[];
  /** Slots of a strategy that have a run, from an instant on. */
  slotsWithRun(strategyId: string, fromMs: number): readonly number[];
  /** How often an effect was begun; undefined where it was answered, or never written down. */
  begun(effectId: number): number | undefined;
  /** What a run waits for, or waited for. */
  holds(runId: string): readonly Hold[];
  /** Keeps what a person said to a run that waits; what was answered stays as it is. */
  answerHolds(runId: string, answer: HoldAnswer): void;
  /** Makes due the quotes that a run is to ask for later. */
  hastenQuotes(runId: string, nowMs: number): void;
  saveSameEnds(strategyId: string, ends: SameEnds | undefined): void;
  /** Writes an alert down. @returns false when the same code is true of the same subject already: then nothing is new */
  raiseAlert(alert: AlertRow): boolean;
  /** Gives an alert that is true another text; nobody is notified of that. */
  rewordAlert(alert: Pick<AlertRow, "subject" | "code" | "text">): void;
  /** Ends what an alert stands in the place of: nobody is told of that end, nor of what waits of it. */
  replaceAlert(by: AlertRow, atMs: number): void;
  /**
   * Writes down something that happened and is not true for a while: it is over at once, and it is sent whatever its
   * severity. @returns false when this very message, by its id, was written before
   */
  addMessage(message: AlertRow): boolean;
  /** Ends what was said of services that are configured no more. @param hosts of those that are */
  endAlertsOfOthersOutside(kept: { hosts: readonly string[]; signed: readonly string[] }, atMs: number): void;
  /**
   * A strategy wants nothing now: ends what kept it from trading when it last wanted something, where that was said until
   * an instant. What is critical stays.
   */
  endAlertsOfWants(strategyId: string, when: { readonly raisedUntilMs: number; readonly atMs: number }): void;
  /** Swaps that were signed and of which it is not known yet whether they were done. */
  unsettledSwaps(): readonly string[];
  /** Swaps that have not ended, and runs that are open without any. */
  openWork(): readonly OpenWork[];
  swapState(swapId: string): SwapState | undefined;
  /** Makes due what was written by a clock that ran ahead of this instant and is to wait until then. */
  hastenEffects(nowMs: number): void;
  /** Whether there is any of these. */
  isAnyEffectAhead(nowMs: number): boolean;
  identity(): { readonly network: string; readonly chainId: number } | undefined;
  saveIdentity(identity: { network: string; chainId: number; atMs: number }): void;
  /** Counts a price (dollars scaled by 1e18) into the bar of its hour. */
  addPriceSample(token: Address, atMs: number, usd: UsdPrice): void;
  /** Drops the bars of hours that were over before what is kept begins, and of those that begin after it. */
  prunePriceBars(token: Address, kept: { readonly sinceMs: number; readonly untilMs: number }): void;
  /** What swaps of these wallets bought of a token for anybody else, as measured. */
  deliveredToOthers(wallets: readonly Address[], token: Address): bigint;
  /** Proposals to Safes that no execution was seen of. */
  proposedSwaps(): readonly Pick<Swap, "id" | "wallet">[];
  /** The value of the wallets over time, undefined before its first sample. */
  drawdown(): DrawdownState | undefined;
  /** How far the digests of a period have come; undefined before the first. */
  digestMark(period: CalendarPeriod): DigestMark | undefined;
  saveDigestMark(period: CalendarPeriod, mark: DigestMark): void;
  /** Forgets those of other periods. */
  keepDigestMarks(periods: readonly CalendarPeriod[]): void;
  chatOffset(bot: string): { readonly nextUpdate: number; readonly atMs: number } | undefined;
  saveChatOffset(bot: string, offset: { readonly nextUpdate: number; readonly atMs: number }): void;
  /** The number of the newest move, 0 before the first. */
  newestTransition(): number;
  /** The same of moves of transactions. */
  newestLaneTransition(): number;
  /** Swaps that are filled, and were not yet at a move. */
  filledSince(transition: number): readonly { readonly runId: string; readonly swapId: string }[];
  /** What transactions cost that were confirmed for the first time after a move of theirs, in wei each. */
  paidSince(laneTransition: number): readonly bigint[];
  /** How runs ended without a trade after a move, by reason. */
  endsSince(transition: number): readonly Counted[];
  /** Gaps that were written down, or grew, since about an instant. */
  gapsSince(atMs: number): readonly (Counted & { readonly id: number })[];
  /** The last link of what is archived and closed. */
  historyHead(): { readonly links: number; readonly head: string } | undefined;
  saveDrawdown(state: DrawdownState, atMs: number): void;
  addBaseline(row: BaselineRow): void;
  replaceBaselines(wallet: Address, rows: readonly BaselineRow[]): void;
  noteAlive(atMs: number): void;
  databaseState(): DatabaseState;
  nameDatabase(id: string): void;
  /** Counts well beyond so many steps of signing, so that a database that stood there, or was about to, is the older one. */
  countBeyond(signatures: number): void;
  /**
   * What the chain itself settled is open again when it is found again, and so is an allowance without a grant: one that
   * was accepted has a grant until it is taken back.
   * @returns false when the same is open or was accepted
   */
  addDifference(finding: Finding, at: { readonly ms: number; readonly sinceBoot: BootInstant }): boolean;
  /** What is open was found at this instant at the latest, whatever a clock that ran ahead said. */
  capFindings(atMs: number): void;
  /** The same of when anything was settled. */
  capAcceptances(atMs: number): void;
  /** The runs that are open now trade no more: another database may have traded them. */
  barOpenRuns(): void;
  settleDifference(id: number, settlement: { readonly by: string; readonly atMs: number }): void;
  /** Removes the note that a wallet is unchecked: it was checked against the chain. */
  removeUnchecked(wallet: Address): void;
  saveKnownChain(known: KnownChain, atMs: number): void;
  /** Whether anything was ever about to be signed for the wallet, and the last block that its rows know. */
  signedHistory(wallet: Address): { readonly hasSigned: boolean; readonly lastBlock: number };
  /** Whether a transaction is one of our own, or fills a swap that sells this token of this wallet. */
  knowsMove(hash: Hex, wallet: Address, token: Address): boolean;
  /**
   * Whether a swap of the wallet accounts for a fill with this nonce of the settlement contract: it was signed, and may be
   * filled or was. One that was only meant to be signed, or ended unfilled, counts nowhere as sold.
   */
  knowsNonce(wallet: Address, nonce: bigint): boolean;
  hasGrant(grant: Grant): boolean;
  /** Notes an allowance that this database did not grant, so that it is taken back like any leftover; with the block that showed it. */
  adoptGrant(grant: Grant, seen: { readonly block: number; readonly atMs: number }): void;
  /** Counts an accepted fill in a strategy's budget. */
  countSale(sale: {
    readonly differenceId: number;
    readonly strategy: string;
    readonly token: Address;
    readonly amount: bigint;
  }): void;
  /** Answers all requests that are not answered. */
  answerOpenRequests(answer: string, atMs: number): void;
  /** Whether a difference with this key is open, or was accepted in a way that adding it again changes nothing. */
  isReported(key: string): boolean;
  /** How far the chain was checked against the rows, by wallet. */
  knownChains(): ReadonlyMap<Address, KnownChain>;
  baselines(): readonly Pick<BaselineRow, "wallet" | "token">[];
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
  runOfIntent(intentId: string): { readonly runId: string; readonly swapId: string } | undefined;
  /** Counts a beginning of an effect, durably, before it is performed. @returns how often it was begun before */
  beginEffect(id: number): number;
  /** Leaves it to be done again, behind whatever is due by now, or at an instant: nothing came of its last beginning. */
  postponeEffect(id: number, atMs: number, untilMs?: number): void;
}

/**
 * Rows of alerts, written in the transaction that makes them true, with a delivery for each channel that sends them.
 */
export interface AlertStore {
  /** Warnings that are true of a strategy, or of one of the subjects, now. */
  trueWarnings(strategyId: string, subjects: readonly string[]): readonly TrueWarning[];
  /** Nothing is true of the subject any more; what was not sent yet is sent all the same. */
  endAlerts(subject: string, atMs: number): void;
  /** A person took note of what became of a strategy's fills. */
  endAlertsOfFills(strategyId: string, atMs: number): void;
  /** Ends what was said of strategies that are no more, but not of their open runs, swaps and fills, nor of their modes. */
  endAlertsOfOthers(strategyIds: readonly string[], atMs: number): void;
}

/** Rows of what the database knows of the chain and of itself. */
export interface ReconciliationStore {
  openDifferences(): readonly Difference[];
  /** Whether a difference with this key was found, and settled by a person. */
  wasAccepted(key: string): boolean;
  /** When a person last accepted what another database did, by wallet. */
  acceptedOthers(): ReadonlyMap<Address, number>;
  /** Wallets of which a person accepted something since a check last proved what they did. */
  acceptedUnproved(): ReadonlySet<Address>;
  isRunBarred(runId: string): boolean;
  knownChain(wallet: Address): KnownChain | undefined;
}

/** Removes rows that are no longer needed: to be called in a transaction. */
export interface RetentionRows {
  letGo(slice: RetentionSlice): RetentionResult;
  closeGaps(idle: IdleGaps): ClosedGaps;
}

/** What is to be done, from memory. */
interface DueEffects {
  /** Those of a group, the longest due first, with what is in flight. */
  dueEffects(nowMs: number, limit: number, group: EffectGroup): readonly PendingEffect[];
  /** When the next one is due, in milliseconds; undefined: none is written down. */
  nextEffectMs(): number | undefined;
}

/** All rows of the daemon, one by one. Everything written inside `transaction` is durable together, or not at all. */
export interface RowStore
  extends SingleRows,
    RunStore,
    LedgerStore,
    OperationStore,
    AlertStore,
    ReconciliationStore,
    RetentionRows,
    DueEffects {
  /** Runs synchronous work in one durable transaction; a nested call joins it. */
  transaction<T>(work: () => T): T;
}
