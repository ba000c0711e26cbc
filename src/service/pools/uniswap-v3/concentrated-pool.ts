import type { Address } from "../../../domain/money/address.ts";
import { mulDivUp } from "../../../domain/money/amount.ts";
import { larger, smaller } from "../../../domain/money/bigint.ts";
import type { Pool, PoolQuote, PoolState } from "../pool.ts";
import { concentratedHopGas, type HopGas, type Trail } from "./swap-gas.ts";
import { swapStep } from "./swap-step.ts";
import { nextTick, type TickTable, wordOf } from "./tick-bitmap.ts";
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick, tickAtSqrtRatio } from "./tick-math.ts";

/** The moving part of a Uniswap V3 style pool; `price` is a square root in Q64.96. */
export interface CurvePosition {
  readonly price: bigint;
  readonly tick: number;
  readonly liquidity: bigint;
}

/** What a swap pays, in parts per million, and the gas that collecting it costs beyond what it does in every pool. */
interface CurveFee {
  readonly pips: bigint;
  readonly gas: bigint;
}

/** Fees by what is sold, where they are not the pool's fixed one. */
export interface CurveFees {
  readonly selling0: CurveFee;
  readonly selling1: CurveFee;
}

/** What bounds a swap along the curve, and what a leg costs. */
export interface CurveTerms {
  readonly hopGas: HopGas;
  /** no pool takes or pays more, and nothing overflows on the chain below it */
  readonly most: bigint;
}

export interface CurveState extends CurvePosition, TickTable {
  readonly fees?: CurveFees | undefined;

  /** how many of a tick's two fee accumulators are zero, by tick: the first crossing fills them, which costs gas */
  readonly blanks?: ReadonlyMap<number, number>;
}

/** Asks for more of the tick table: reads the word at this position (and what lies beyond it in the same direction). */
export type LoadWord = (position: number, down: boolean) => Promise<void>;

/** Pools of Uniswap V3 count liquidity in 128 bits; no amount beyond can be traded. */
export const MOST_OF_V3 = (1n << 128n) - 1n;

const UNISWAP_V3: CurveTerms = { hopGas: concentratedHopGas, most: MOST_OF_V3 };

/** More steps than this in one swap would not fit into a block. */
const MAX_STEPS = 4_096;

type SwapResult =
  | { kind: "filled"; amountOut: bigint; end: CurvePosition; trail: Trail }
  | { kind: "short" }
  | { kind: "unread"; word: number; atMost: bigint };

const Q192 = 1n << 192n;

/** What an amount is worth at a price, rounded up: a swap never gets more, because the price only falls. */
function valueAt(price: bigint, amountIn: bigint, zeroForOne: boolean): bigint {
  const square = price * price;
  return zeroForOne ? mulDivUp(amountIn, square, Q192) : mulDivUp(amountIn, Q192, square);
}

interface Order {
  readonly zeroForOne: boolean;
  readonly amountIn: bigint;
  readonly feePips: bigint;
  readonly spacing: number;
  /** the price beyond which the pool does not go */
  readonly limit: bigint;
}

/** A swap under way. */
interface Progress {
  price: bigint;
  tick: number;
  liquidity: bigint;
  remaining: bigint;
  amountOut: bigint;
  /** the bitmap word of the last step */
  word: number | undefined;
  readonly trail: Trail;
}

/**
 * Swaps an exact input along the curve, step by step as the pools do (each step ends at an initialised tick, at the
 * edge of a bitmap word or with the input), because every step rounds.
 */
function swapExactInput(curve: CurveState, order: Order): SwapResult {
  const { price, tick, liquidity } = curve;
  const trail: Trail = { steps: 0, words: 0, crossed: 0, blank: 0 };
  const swap: Progress = { price, tick, liquidity, remaining: order.amountIn, amountOut: 0n, word: undefined, trail };
  while (trail.steps < MAX_STEPS) {
    const result = takeStep(curve, order, swap);
    if (result !== undefined) return result;
  }
  return { kind: "short" };
}

/** @returns how the swap ends, undefined when it goes on */
function takeStep(curve: CurveState, order: Order, swap: Progress): SwapResult | undefined {
  const { zeroForOne, spacing, feePips, limit } = order;
  const { price, liquidity, remaining, trail } = swap;
  const next = nextTick(curve, { tick: swap.tick, spacing, down: zeroForOne });
  if (next.kind === "unread") return { ...next, atMost: swap.amountOut + valueAt(price, remaining, zeroForOne) };
  const word = wordOf(swap.tick, spacing, zeroForOne);
  if (word !== swap.word) trail.words += 1;
  swap.word = word;
  trail.steps += 1;
  const nextPrice = sqrtRatioAtTick(next.tick);
  const target = zeroForOne ? larger(nextPrice, limit) : smaller(nextPrice, limit);
  const end = swapStep({ price, target, liquidity, remaining, feePips });
  swap.remaining -= end.amountIn + end.fee;
  swap.amountOut += end.amountOut;
  swap.price = end.price;
  if (end.price === nextPrice) {
    if (next.initialized) cross(curve, next.tick, zeroForOne, swap);
    swap.tick = zeroForOne ? next.tick - 1 : next.tick;
  } else if (end.price !== price) {
    swap.tick = tickAtSqrtRatio(end.price);
  }
  if (swap.remaining === 0n) return { kind: "filled", amountOut: swap.amountOut, end: positionOf(swap), trail };
  return swap.price === limit ? { kind: "short" } : undefined;
}

function cross(curve: CurveState, tick: number, zeroForOne: boolean, swap: Progress): void {
  const net = curve.nets.get(tick);
  if (net === undefined) throw new Error(`the liquidity of tick ${tick} was not read with its word`);
  swap.liquidity += zeroForOne ? -net : net;
  swap.trail.crossed += 1;
  swap.trail.blank += curve.blanks?.get(tick) ?? 0;
}

function positionOf({ price, tick, liquidity }: CurvePosition): CurvePosition {
  return { price, tick, liquidity };
}

/** A pool with liquidity in price ranges at this point of its curve. */
export function concentratedPoolState(
  pool: Pool,
  curve: CurveState,
  loadWord: LoadWord,
  terms: CurveTerms = UNISWAP_V3,
): PoolState {
  const fixed = { pips: BigInt(pool.feePips), gas: 0n };
  const { selling0, selling1 } = curve.fees ?? { selling0: fixed, selling1: fixed };
  return {
    pool,
    quote(tokenIn: Address, amountIn: bigint): PoolQuote {
      if (amountIn <= 0n || amountIn > terms.most) return { kind: "short" };
      const zeroForOne = tokenIn === pool.token0;
      const limit = zeroForOne ? MIN_SQRT_RATIO + 1n : MAX_SQRT_RATIO - 1n;
      const fee = zeroForOne ? selling0 : selling1;
      const order = { zeroForOne, amountIn, feePips: fee.pips, spacing: pool.tickSpacing, limit };
      const result = swapExactInput(curve, order);
      if (result.kind === "unread") {
        return { kind: "unread", atMost: result.atMost, load: () => loadWord(result.word, zeroForOne) };
      }
      if (result.kind === "short" || result.amountOut === 0n || result.amountOut > terms.most) return { kind: "short" };
      const after = concentratedPoolState(pool, { ...curve, ...result.end }, loadWord, terms);
      return { kind: "filled", amountOut: result.amountOut, after, gas: terms.hopGas(result.trail) + fee.gas };
    },
    spot(tokenIn: Address) {
      const square = curve.price * curve.price;
      return tokenIn === pool.token0
        ? { numerator: square, denominator: Q192 }
        : { numerator: Q192, denominator: square };
    },
    feePips: (tokenIn) => Number((tokenIn === pool.token0 ? selling0 : selling1).pips),
  };
}
