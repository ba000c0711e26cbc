import type { Address, Hex } from "../domain/money/address.ts";

/** What a transaction of ours is for. A `cancel` replaces an attempt by an empty self-transfer at the same nonce. */
export type IntentPurpose = "swap" | "approve" | "revoke" | "relay";

/**
 * The life of an intent (what must happen with one nonce):
 * planned -> signed -> broadcast -> mined -> confirmed -> final; a reorg takes mined or confirmed back to broadcast.
 * Ends: final (with its outcome) or dropped (never signed, so nothing can ever happen).
 */
export type IntentState = "planned" | "signed" | "broadcast" | "mined" | "confirmed" | "final" | "dropped";

/**
 * How a final intent ended: its transaction succeeded or reverted, or its nonce was taken by something else: a cancel of
 * ours, or a transaction that is not ours.
 */
export type IntentOutcome = "succeeded" | "reverted" | "cancelled";

/** What must happen with one nonce of an account, whatever bytes it takes. */
export interface IntentRow {
  readonly id: string;
  readonly account: Address;
  readonly chainId: number;
  readonly purpose: IntentPurpose;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  /** ceiling of this intent and of every replacement, wei per gas */
  readonly maxFeePerGasCap: bigint;
  /** Unix seconds: not signed for the first time after this */
  readonly signBySeconds: number;
  /** Unix seconds of chain time: cancelled when still unmined after this; undefined: never */
  readonly deadlineSeconds: number | undefined;
  readonly state: IntentState;
  readonly nonce: number | undefined;
  readonly outcome: IntentOutcome | undefined;
  readonly minedBlockNumber: number | undefined;
  readonly minedBlockHash: Hex | undefined;
  readonly minedAttemptHash: Hex | undefined;
  readonly createdAtMs: number;
}

/** What an attempt is: the first one, a later one with higher fees, or an empty self-transfer that takes the nonce. */
export type AttemptKind = "original" | "replacement" | "cancel";

/**
 * To whom a transaction's bytes are shown before they are in a block: to the endpoints for private sending alone, or to
 * those that everything is read from, each of which may show them to everybody.
 */
export type Visibility = "private" | "public";

/**
 * What is about to be signed, written before the key is used. After a crash in between, the same fields are signed
 * again, which gives the same bytes. Never changed, never removed.
 */
export interface SigningRow {
  readonly intentId: string;
  readonly kind: AttemptKind;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** decided before there are any bytes: they go to endpoints of this class alone, whatever becomes of them */
  readonly visibility: Visibility;
  readonly atMs: number;
}

/**
 * One signed version of an intent. Attempts of one nonce differ in fees, or are the cancel. One that can never be mined
 * is `replaced` when another attempt was mined finally, `dropped` when a transaction that is not ours was.
 */
export type AttemptState = "signed" | "broadcast" | "mined" | "confirmed" | "reverted" | "replaced" | "dropped";

/** Bytes that were signed for an intent. All of them are kept: a receipt may come for any. */
export interface AttemptRow {
  readonly hash: Hex;
  readonly intentId: string;
  readonly kind: AttemptKind;
  readonly raw: Hex;
  readonly nonce: number;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly visibility: Visibility;
  readonly state: AttemptState;
  readonly signedAtMs: number;
  /** the tip when it was first sent, or when a reorganisation brought it back; the age of an attempt counts from here */
  readonly firstBroadcastBlock: number | undefined;
  readonly lastBroadcastAtMs: number | undefined;
  readonly lastBroadcastBlock: number | undefined;
}

/** What the transaction that took an intent's nonce cost its account; it is gone again when a reorganisation takes it back. */
export interface CostRow {
  readonly intentId: string;
  readonly hash: Hex;
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockTimeSeconds: number;
  readonly gasUsed: bigint;
  /** wei paid per gas */
  readonly gasPrice: bigint;
  /** wei that a rollup charged on top of gas; undefined: its receipt reports none */
  readonly dataFee: bigint | undefined;
}

/** One move of an intent, or of one of its attempts; written down for ever where anything was signed. */
export interface LaneTransition {
  readonly intentId: string;
  /** undefined: the intent itself moved */
  readonly attemptHash: Hex | undefined;
  /** undefined for the first */
  readonly from: IntentState | AttemptState | undefined;
  readonly to: IntentState | AttemptState;
  readonly atMs: number;
  readonly detail: string | undefined;
}

/** Why an account signs nothing. */
export interface LaneHalt {
  readonly account: Address;
  readonly chainId: number;
  readonly reason: string;
  /** how many of the account's transactions a release accepts: what the chain counted, where that is why it halted */
  readonly transactionCount: number;
  readonly atMs: number;
}

/** A person's request to cancel an open intent. */
export interface CancelRequest {
  readonly intentId: string;
  readonly by: string;
  readonly atMs: number;
}

/** One account on one chain: what a lane moves. */
export interface LaneAccount {
  readonly account: Address;
  readonly chainId: number;
}
