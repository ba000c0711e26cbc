import type { Address } from "../../domain/money/address.ts";
import type { ReadWords } from "../chain/batch-reader.ts";

/** A factory whose pools the settlement contracts accept; its place in the executor's list is the protocol's index. */
export interface Protocol {
  readonly kind: 1 | 2;
  readonly factory: Address;
  /** fee of every pool in parts per million (kind 1); 0 where each pool has its own (kind 2) */
  readonly feePips: number;
}

/** One pool of two tokens, as found at its factory. Everything here never changes. */
export interface Pool {
  readonly kind: 1 | 2;
  /** index of its protocol in the executor's list */
  readonly protocol: number;
  readonly address: Address;
  /** the lower address of the two */
  readonly token0: Address;
  readonly token1: Address;
  /** taken from the input, in parts per million */
  readonly feePips: number;
  /** distance between usable ticks; 0 where the pool has none */
  readonly tickSpacing: number;
}

/** What a pool answers to an exact input. */
export type PoolQuote =
  /** all of the input is taken; `after` is the pool as this swap leaves it; `gas` an estimate of its cost */
  | { readonly kind: "filled"; readonly amountOut: bigint; readonly after: PoolState; readonly gas: bigint }
  /** the pool cannot take all of the input, or would pay nothing */
  | { readonly kind: "short" }
  /** the answer depends on state that was not read yet: await `load`, then ask again; it cannot exceed `atMost` */
  | { readonly kind: "unread"; readonly load: () => Promise<void>; readonly atMost: bigint };

/** A pool at one block (or after hypothetical swaps on top of it). Quoting is pure. */
export interface PoolState {
  readonly pool: Pool;
  /** Quotes an exact input of one of the two tokens, to the wei of what the chain would do. */
  quote(tokenIn: Address, amountIn: bigint): PoolQuote;
  /** Marginal price in smallest units, out per in, before the pool's fee, as a ratio. */
  spot(tokenIn: Address): { readonly numerator: bigint; readonly denominator: bigint };
}

/** Everything the service knows about one kind of pool. A new kind is one folder with one of these. */
export interface PoolKind {
  /** name of the kind on the wire: a liquidity source */
  readonly source: string;
  /** Looks up the pools of two tokens at a factory. */
  find(search: PoolSearch, read: ReadWords): Promise<readonly Pool[]>;
  /**
   * Reads a pool's state. `previous` is what was known at an earlier block: it tells which parts to ask for at once.
   * @returns undefined when the pool holds nothing to trade with
   */
  load(pool: Pool, read: ReadWords, previous: PoolState | undefined): Promise<PoolState | undefined>;
}

export interface PoolSearch {
  readonly protocol: Protocol;
  readonly protocolIndex: number;
  readonly tokenA: Address;
  readonly tokenB: Address;
  /** fee tiers to try, in parts per million */
  readonly feeTiers: readonly number[];
}

/** Two tokens in the order in which every factory stores them. Addresses have one case, so text order is number order. */
export function sortTokens(tokenA: Address, tokenB: Address): readonly [Address, Address] {
  return tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
}
