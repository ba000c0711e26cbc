import type { Address } from "../../../domain/money/address.ts";
import { mulDivUp } from "../../../domain/money/amount.ts";
import type { Pool, PoolQuote, PoolState } from "../pool.ts";
import { concentratedLegGas, type Trail } from "./swap-gas.ts";
import { swapStep } from "./swap-step.ts";
import { nextTick, type TickTable, wordOf } from "./tick-bitmap.ts";
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick, tickAtSqrtRatio } from "./tick-math.ts";

/** The moving part of a Uniswap V3 style pool; `price` is a square root in Q64.96. */
export interface CurvePosition {
  readonly price: bigint;
  readonly tick: number;
  readonly liquidity: bigint;
}

export interface CurveState extends CurvePosition, TickTable {
  /** how many of a tick's two fee accumulators are zero, by tick: the first crossing fills them, which costs gas */
  readonly blanks?: ReadonlyMap<number, number>;
}

/** Asks for more of the tick table: reads the word at this position (and what lies beyond it in the same direction). */
export type LoadWord = (position: number, down: boolean) => Promise<void>;

/** The pools count liquidity in 128 bits; no amount beyond can be traded, and rules out overflows on the chain. */
const MAX_AMOUNT = (1n << 128n) - 1n;

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

/**
 * Swaps an exact input along the curve, step by step as the pools do (each step ends at an initialised tick, at the
 * edge of a bitmap word or with the input), because every step rounds.
 */
function swapExactInput(
  curve: CurveState,
  order: {
    readonly zeroForOne: boolean;
    readonly amountIn: bigint;
    readonly feePips: number;
    readonly spacing: number;
  },
): SwapResult {
  const { zeroForOne, spacing } = order;
  const limit = zeroForOne ? MIN_SQRT_RATIO + 1n : MAX_SQRT_RATIO - 1n;
  const feePips = BigInt(order.feePips);
  let { price, tick, liquidity } = curve;
  let remaining = order.amountIn;
  let amountOut = 0n;
  const trail: Trail = { steps: 0, words: 0, crossed: 0, blank: 0 };
  let word: number | undefined;
  while (trail.steps < MAX_STEPS) {
    const next = nextTick(curve, { tick, spacing, down: zeroForOne });
    if (next.kind === "unread") return { ...next, atMost: amountOut + valueAt(price, remaining, zeroForOne) };
    const entered = wordOf(tick, spacing, zeroForOne);
    if (entered !== word) trail.words += 1;
    word = entered;
    trail.steps += 1;
    const nextPrice = sqrtRatioAtTick(next.tick);
    const beyond = zeroForOne ? nextPrice < limit : nextPrice > limit;
    const start = { price, target: beyond ? limit : nextPrice, liquidity, remaining, feePips };
    const end = swapStep(start);
    remaining -= end.amountIn + end.fee;
    amountOut += end.amountOut;
    if (end.price === nextPrice) {
      if (next.initialized) {
        const net = curve.nets.get(next.tick);
        if (net === undefined) throw new Error(`the liquidity of tick ${next.tick} was not read with its word`);
        liquidity += zeroForOne ? -net : net;
        trail.crossed += 1;
        trail.blank += curve.blanks?.get(next.tick) ?? 0;
      }
      tick = zeroForOne ? next.tick - 1 : next.tick;
    } else if (end.price !== price) {
      tick = tickAtSqrtRatio(end.price);
    }
    price = end.price;
    if (remaining === 0n) return { kind: "filled", amountOut, end: { price, tick, liquidity }, trail };
    if (price === limit) return { kind: "short" };
  }
  return { kind: "short" };
}

/** A Uniswap V3 style pool at this point of its curve. */
export function concentratedPoolState(pool: Pool, curve: CurveState, loadWord: LoadWord): PoolState {
  return {
    pool,
    quote(tokenIn: Address, amountIn: bigint): PoolQuote {
      if (amountIn <= 0n || amountIn > MAX_AMOUNT) return { kind: "short" };
      const zeroForOne = tokenIn === pool.token0;
      const order = { zeroForOne, amountIn, feePips: pool.feePips, spacing: pool.tickSpacing };
      const result = swapExactInput(curve, order);
      if (result.kind === "unread") {
        return { kind: "unread", atMost: result.atMost, load: () => loadWord(result.word, zeroForOne) };
      }
      if (result.kind === "short" || result.amountOut === 0n) return { kind: "short" };
      const after = concentratedPoolState(pool, { ...curve, ...result.end }, loadWord);
      return { kind: "filled", amountOut: result.amountOut, after, gas: concentratedLegGas(result.trail) };
    },
    spot(tokenIn: Address) {
      const square = curve.price * curve.price;
      return tokenIn === pool.token0
        ? { numerator: square, denominator: Q192 }
        : { numerator: Q192, denominator: square };
    },
  };
}
