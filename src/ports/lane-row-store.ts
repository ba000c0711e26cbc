import type { Address, Hex } from "../domain/money/address.ts";
import type { LaneChange } from "./lane-changes.ts";
import type { LaneListener } from "./lane-event.ts";
import type {
  AttemptRow,
  CancelRequest,
  CostRow,
  IntentRow,
  LaneHalt,
  LaneTransition,
  SigningRow,
} from "./lane-store.ts";
import type { LaneRows, LaneStore } from "./lane-unit-of-work.ts";

/** Rows of lanes one by one, read and written at once. Every write happens inside `transaction`. */
export interface LaneRowStore {
  /** Runs the work in one durable transaction (nested calls join it). The work is synchronous. */
  transaction<T>(work: () => T): T;
  insertIntent(row: IntentRow): void;
  intent(id: string): IntentRow | undefined;
  /** The intent that was given this nonce. */
  intentAt(account: Address, chainId: number, nonce: number): IntentRow | undefined;
  /** Whether a nonce that no row has may have been given to a final transaction whose rows are in an archive. */
  isArchivedNonce(account: Address, chainId: number, nonce: number): boolean;
  /** Intents of the account that are not final and not dropped, oldest first. */
  openIntents(account: Address, chainId: number): readonly IntentRow[];
  updateIntent(
    id: string,
    change: Partial<
      Pick<IntentRow, "state" | "nonce" | "outcome" | "minedBlockNumber" | "minedBlockHash" | "minedAttemptHash">
    >,
  ): void;
  /**
   * Forgets a relayed swap of which nothing was ever signed, with its moves and what was written down to be signed.
   * @returns false where it is not over, something was signed, or it was our own: then it stays
   */
  forgetUnsigned(id: string): boolean;
  insertSigning(row: SigningRow): void;
  /** Everything that was ever about to be signed for this intent, oldest first. */
  signings(intentId: string): readonly SigningRow[];
  insertAttempt(row: AttemptRow): void;
  attempts(intentId: string): readonly AttemptRow[];
  updateAttempt(
    hash: Hex,
    change: Partial<Pick<AttemptRow, "state" | "firstBroadcastBlock" | "lastBroadcastAtMs" | "lastBroadcastBlock">>,
  ): void;
  /** Writes what a mined transaction cost, in place of what was known before. */
  saveCost(row: CostRow): void;
  /** The transaction is in no block any more. */
  forgetCost(intentId: string): void;
  cost(intentId: string): CostRow | undefined;
  /** Appends one move; there is no way to change it. */
  recordTransition(row: LaneTransition): void;
  transitions(intentId: string): readonly LaneTransition[];
  /** Writes a cancel request; an intent has at most one, and it is never taken back. */
  requestCancel(cancelRequest: CancelRequest): void;
  cancelRequest(intentId: string): CancelRequest | undefined;
  /** Cancel requests of the account's intents that wait for a nonce. */
  waitingCancelRequests(account: Address, chainId: number): readonly CancelRequest[];
  /** Halt, highest nonce and accepted count of an account, in one reading. */
  account(account: Address, chainId: number): Pick<LaneRows, "halt" | "highestNonce" | "acceptedCount">;
  /** A halted account signs nothing until a person releases it. */
  halt(account: Address, chainId: number): LaneHalt | undefined;
  /** All accounts that are halted now. */
  halts(): readonly LaneHalt[];
  /** Halts an account that is not halted. */
  addHalt(halt: LaneHalt): void;
  /** Ends a halt: as many transactions as it names are accepted, no matter who made them. */
  releaseHalt(account: Address, chainId: number, release: { readonly by: string; readonly atMs: number }): void;
  /** Accepts so many transactions of an account that no halt counted, no matter who made them. */
  acceptCount(
    counted: Pick<LaneHalt, "account" | "chainId" | "transactionCount">,
    acceptance: { readonly by: string; readonly atMs: number },
  ): void;
}

/** Lanes in a database whose other rows are written at once, too: the service's, and that of a deployment. */
export interface Lanes {
  readonly rows: LaneRowStore;
  /** The rows as a lane uses them. @param listener hears what it reports, in the transaction that writes it */
  store(listener?: LaneListener): LaneStore;
  /** Writes changes in their order; to be called inside a transaction of the rows. */
  write(changes: readonly LaneChange[], atMs: number): void;
}
