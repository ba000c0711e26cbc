import type { Address, Hex } from "../domain/money/address.ts";
import type { ChainLog, Receipt } from "./chain.ts";
import type { UnsignedTransaction } from "./signer.ts";

/** A transaction that exists on paper only: nothing of it was signed, and no node ever got it. */
export interface PaperTransaction extends Omit<UnsignedTransaction, "chainId"> {
  readonly hash: Hex;
  readonly account: Address;
  /** the newest block when it was sent: it is judged at a later one */
  readonly sentBlock: number;
  /** the block at which it was judged last, without being filled */
  readonly judgedBlock: number;
}

/** What a paper transaction did, as its block would have had it. */
export interface PaperOutcome {
  readonly hash: Hex;
  readonly block: { readonly number: number; readonly hash: Hex; readonly timestamp: number };
  readonly gasUsed: bigint;
  /** wei paid per gas */
  readonly effectiveGasPrice: bigint;
  /** wei on top of gas */
  readonly dataFee: bigint | undefined;
  readonly logs: readonly Omit<ChainLog, "logIndex">[];
  /** what accounts on paper have more or less by it */
  readonly moves: readonly PaperMove[];
  readonly allowances: readonly PaperAllowance[];
  /** how far it would have moved the price of its pair, undefined where it was no swap */
  readonly shift: PaperShift | undefined;
}

/** What an account on paper has more, or less, by a transaction. */
export interface PaperMove {
  readonly account: Address;
  readonly token: Address;
  readonly delta: bigint;
}

/** What a spender may take on paper. */
export interface PaperAllowance {
  readonly token: Address;
  readonly owner: Address;
  readonly spender: Address;
  readonly amount: bigint;
}

/** By how much an own fill would have made the next one of its pair and direction dearer, at its time. */
export interface PaperShift {
  readonly sell: Address;
  readonly buy: Address;
  readonly seconds: number;
  readonly ppm: bigint;
}

/** What an account began with on paper, of one token. */
export interface PaperStart {
  readonly token: Address;
  readonly block: number;
  readonly amount: bigint;
}

/**
 * The rows of what happens on paper. Everything that one call writes is one transaction. Blocks are those of the real
 * chain; `block` undefined asks for the newest.
 */
export interface PaperRows {
  starts(account: Address): readonly PaperStart[];
  /**
   * Writes what an account begins with. Of a token that it began with nothing of, the amount comes on top of what it had
   * since; of one that it began with some of, nothing changes.
   */
  begin(account: Address, starts: readonly PaperStart[]): void;
  /** What an account has; undefined where it has not begun with the token. */
  holding(of: { readonly account: Address; readonly token: Address }, block?: number): bigint | undefined;
  holdings(account: Address, block?: number): readonly { readonly token: Address; readonly amount: bigint }[];
  allowance(grant: Omit<PaperAllowance, "amount">, block?: number): bigint;
  allowances(owner: Address, block?: number): readonly PaperAllowance[];
  /** how many transactions of the account are in blocks */
  count(account: Address, block?: number): number;
  transaction(hash: Hex): PaperTransaction | undefined;
  /** those that are in no block, by nonce and then by fee, the highest first */
  waiting(account: Address): readonly PaperTransaction[];
  ofBlock(account: Address, block: number): readonly PaperTransaction[];
  receipt(hash: Hex): Receipt | undefined;
  /** @returns false where it is there already */
  send(transaction: PaperTransaction): boolean;
  /** It was judged at this block and not filled. */
  judged(hash: Hex, block: number): void;
  fill(outcome: PaperOutcome): void;
  /** What was filled from this block on is in no block any more. */
  takeBack(fromBlock: number): void;
  /** those of a pair and direction since an instant, Unix seconds */
  shifts(pair: Pick<PaperShift, "sell" | "buy">, sinceSeconds: number): readonly PaperShift[];
}
