import type { LotPick } from "../domain/books/shelf.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import type { Token } from "../domain/money/token.ts";
import type { PriceEvidence } from "../domain/run/records.ts";

/** A swap whose fill lies in a finalised block: it changes no more. Amounts are in smallest units. */
export interface BookFill {
  readonly swapId: string;
  readonly strategy: string;
  readonly slotMs: number;
  readonly mode: "self-executed" | "gasless" | undefined;
  readonly wallet: Address;
  readonly recipient: Address;
  readonly sell: Token;
  readonly buy: Token;
  readonly sold: bigint;
  readonly bought: bigint;
  /** of the sold token; undefined in rows of before these were kept */
  readonly swapFee: bigint | undefined;
  readonly affiliateFee: bigint | undefined;
  readonly hash: Hex;
  readonly blockNumber: number;
  /** undefined in rows of before it was kept */
  readonly blockTimeSeconds: number | undefined;
  readonly prices: PriceEvidence | undefined;
  /** its receipt does not show the amounts: they are the worst that was signed */
  readonly isAssumed: boolean;
}

/** A transaction of an account of ours that is final, with what it cost in wei. */
export interface BookTransaction {
  readonly id: string;
  readonly account: Address;
  readonly purpose: "swap" | "approve" | "revoke";
  /** its nonce was taken by an empty transaction to ourselves */
  readonly isCancellation: boolean;
  readonly succeeded: boolean;
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly blockTimeSeconds: number;
  readonly cost: bigint;
  /** the swap that it was for, and its strategy; undefined: it was for none */
  readonly swap:
    | { readonly id: string; readonly strategy: string; readonly prices: PriceEvidence | undefined }
    | undefined;
}

/** What a wallet had of a token when it was first seen, up to and including a block. */
export interface BookBaseline {
  readonly wallet: Address;
  readonly token: Token;
  readonly blockNumber: number;
  /** undefined in rows of before it was kept */
  readonly blockTimeSeconds: number | undefined;
  readonly balance: bigint;
}

/** Which lots the sales of a wallet take from an instant on, as it was written down then. */
export interface LotOrder {
  readonly id: number;
  readonly wallet: Address;
  readonly pick: LotPick;
  readonly madeBy: string;
  readonly sinceMs: number;
}

/** All that books are made of. */
export interface BookRows {
  /** when the database was made */
  readonly createdAtMs: number;
  readonly baselines: readonly BookBaseline[];
  /** by block */
  readonly fills: readonly BookFill[];
  readonly transactions: readonly BookTransaction[];
  /** swaps that may have moved money and are not final yet */
  readonly open: readonly { readonly swapId: string; readonly state: string }[];
  /** oldest first */
  readonly lotOrders: readonly LotOrder[];
  /** nothing of it happened on a chain */
  readonly isPaper: boolean;
}
