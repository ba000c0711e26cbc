import type { ReadWords, ViewCall, WordsAnswer } from "../../chain/at-block/batch-reader.ts";
import type { WatchedTopic } from "../../chain/at-block/log-bloom.ts";
import type { Address, Hex } from "../../domain/money/address.ts";

/** A factory whose pools the settlement contracts accept; its place in the executor's list is the protocol's index. */
export interface Protocol {
  /** {@link PoolKind.number} */
  readonly kind: number;
  readonly factory: Address;
  /** fee of every pool in parts per million; 0 where each pool has its own */
  readonly feePips: number;
  /** keccak-256 of the code that its factory creates it by; undefined: the executor asks the factory for each pool */
  readonly initCodeHash?: Hex | undefined;
}

/** One pool of two tokens, as found at its factory. Everything here never changes. */
export interface Pool {
  /** {@link PoolKind.number} */
  readonly kind: number;
  /** index of its protocol in the executor's list */
  readonly protocol: number;
  readonly address: Address;
  /** tells it from other pools at the same address, and is the first indexed value of its logs; absent: it is alone there */
  readonly id?: Hex | undefined;
  /** the lower address of the two; the wrapped token where it stands for the native coin, whose address is the lowest */
  readonly token0: Address;
  readonly token1: Address;
  /** taken from the input, in parts per million; where it may be another in each block, 0 but in a state's own pool */
  readonly feePips: number;
  /** distance between usable ticks; 0 where the pool has none */
  readonly tickSpacing: number;
  /** more that never changes, in an order that only the pool's own kind knows; survives JSON */
  readonly constants?: readonly number[] | undefined;
  /** whom its kind asks about it in each block besides itself; absent: nobody */
  readonly factory?: Address | undefined;
}

/** What tells a pool from all others of its network. */
export function identityOf({ id, address }: Pick<Pool, "id" | "address">): Hex {
  return id ?? address;
}

/** What a pool answers to an exact input. */
export type PoolQuote =
  /** all of the input is taken; `after` is the pool as this swap leaves it; `gas` what the leg is expected to add */
  | { readonly kind: "filled"; readonly amountOut: bigint; readonly after: PoolState; readonly gas: bigint }
  /** the pool cannot take all of the input, or would pay nothing */
  | { readonly kind: "short" }
  /** the answer depends on state that was not read yet: await `load`, then ask again; it cannot exceed `atMost` */
  | { readonly kind: "unread"; readonly load: () => Promise<void>; readonly atMost: bigint };

/**
 * A pool at one block (or after hypothetical swaps on top of it). Quoting is pure, and includes what the hop costs in
 * gas.
 */
export interface PoolState {
  readonly pool: Pool;
  /** Quotes an exact input of one of the two tokens, to the wei of what the chain would do. */
  quote(tokenIn: Address, amountIn: bigint): PoolQuote;
  /** Marginal price in smallest units, out per in, before the pool's fee, as a ratio. */
  spot(tokenIn: Address): { readonly numerator: bigint; readonly denominator: bigint };
  /** What a swap pays, in parts per million of what is sold, where that is more than the pool's own fee; absent: that one. */
  feePips?(tokenIn: Address): number;
}

/** What a swap pays in a pool, in parts per million of what is sold. */
export function feePipsOf({ pool, feePips }: PoolState, tokenIn: Address): number {
  return feePips?.(tokenIn) ?? pool.feePips;
}

/** Counts calls that are about to be made. @throws Error when no more may be made */
export type TakeCalls = (calls: number) => void;

/** What was known of a pool at an earlier block. */
export interface KnownState {
  readonly state: PoolState;
  /**
   * Whether only trades may have happened since. Otherwise liquidity may have moved, and nothing known is still true.
   */
  readonly onlyTraded: boolean;
}

/** What is known of the gas of all legs of a kind; {@link PoolQuote} has that of one. */
interface KindGas {
  /** No leg adds less: searches rule out by it what cannot pay. */
  readonly least: bigint;
  /** What of a leg's gas is given back at the end of the transaction; {@link PoolQuote} has what remains. */
  readonly refund: bigint;
  /** What a gas limit leaves in addition for a leg, which may find another pool in its block than the quote did. */
  readonly room: bigint;
  /** How many calls a leg makes of its two tokens, besides one transfer of each. */
  readonly tokenCalls: { readonly tokenIn: number; readonly tokenOut: number };
  /** What a leg adds whose pool pays the recipient, besides the reads of his balance; absent: nothing. */
  readonly direct?: bigint;
}

/**
 * Everything the service knows about one kind of pool. A new kind is a folder with one of these and a line in `kinds.ts`;
 * docs/WRITING-A-POOL-KIND.md builds a whole one. Quotes, marginal prices and gas are the state's: {@link PoolState}.
 */
export interface PoolKind {
  /** Names the kind in presets, in the book of networks and in stored rows, for ever. */
  readonly number: number;
  /** name of the kind on the wire: a liquidity source */
  readonly source: string;
  /** Log topics that show that liquidity moved: afterwards `onlyTraded` is false. */
  readonly liquidityTopics: readonly WatchedTopic[];
  /** Looks up the pools of two tokens at a factory. */
  discover(search: PoolSearch, read: ReadWords): Promise<readonly Pool[]>;
  /** The calls that read a pool's state at a block. Calls of all pools travel together. */
  encodeReads(pool: Pool, known: KnownState | undefined): readonly ViewCall[];
  /**
   * Makes the state out of the answers to {@link encodeReads}, which are in the same order and of one block.
   * @param read reads more at that very block, now or when a quote asks for it
   * @returns undefined when the pool holds nothing to trade with
   */
  decode(
    pool: Pool,
    answers: readonly WordsAnswer[],
    context: { readonly known: KnownState | undefined; readonly read: ReadWords },
  ): PoolState | undefined;
  /**
   * Reads what a first quote surely needs, of kinds that do not read all at once.
   * @param take is called with the calls before they are made, and throws where they are too many
   */
  prepare?(state: PoolState, take?: TakeCalls): Promise<void>;
  /**
   * What such a pool takes may change with its price, by a rule of others: of two swaps in one transaction only the first
   * one's fee is known, so a route meets such a pool once.
   */
  readonly feeMoves?: boolean;
  readonly gas: KindGas;
  /** How our own executor performs a leg; absent: it has no branch for such pools, which take no part in its routes. */
  readonly leg?: {
    /** The number of the executor's own branch that performs a leg. Kinds may share one. */
    readonly executorKind: number;
    /** The number by which the executor finds the pool at its factory: a leg's `fee`. */
    fee(pool: Pool): number;
    /**
     * How the executor knows the pool: it computes its address from the code that its factory creates pools by, which the
     * network's facts have, and lets it pay the recipient; or it asks the factory; or the factory that it has in its list
     * is the contract itself that all pools lie in.
     */
    readonly found: "computed" | "asked" | "listed";
    /** Executors of earlier releases have no branch for it: those that do not list its factories are taken all the same. */
    readonly isLater?: boolean;
  };
  /** How a public router takes a hop in such a pool; absent: none does. */
  readonly router?: RouterHop;
}

export interface PoolSearch {
  readonly protocol: Protocol;
  readonly protocolIndex: number;
  readonly tokenA: Address;
  readonly tokenB: Address;
  /** fee tiers to try, in parts per million */
  readonly feeTiers: readonly number[];
  /** the token that wraps the native coin; undefined: nobody knows, and pools of the coin itself are not looked for */
  readonly wrappedNative?: Address | undefined;
}

/** A hop through a public router: in which form, and by whose router. */
export interface RouterHop {
  readonly form: RouterForm;
  readonly maker: RouterMaker;
  /** of a maker who has two sorts of pools for two tokens: whether it is the one for tokens of the same worth */
  isStable?(pool: Pool): boolean;
}

/** Whose router it is: each computes the addresses of its own maker's pools. */
export type RouterMaker = "uniswap" | "pancakeswap" | "slipstream" | "solidly";

/** What a router takes in several legs; everything else is sold in one. */
export type Splits = "all" | "tokens" | "nothing";

/** How a public router takes a hop: as tokens, whose pair it computes, or as tokens with a number that tells the pool between them. */
export type RouterForm = "v2" | "v3";

/** Two tokens in the order in which every factory stores them. Addresses have one case, so text order is number order. */
export function sortTokens(tokenA: Address, tokenB: Address): readonly [Address, Address] {
  return tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
}
