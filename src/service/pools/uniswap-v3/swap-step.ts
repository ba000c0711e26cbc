import { MAX_UINT256, mulDivDown, mulDivUp } from "../../../domain/money/amount.ts";

const Q96 = 1n << 96n;
const ONE_PIPS = 1_000_000n;

/** A piece of the price curve on which liquidity is constant. Prices are square roots in Q64.96. */
export interface StepStart {
  readonly price: bigint;
  readonly target: bigint;
  readonly liquidity: bigint;
  /** what is left of the input, fee included */
  readonly remaining: bigint;
  readonly feePips: bigint;
}

export interface StepEnd {
  readonly price: bigint;
  /** input taken by the curve, without the fee */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly fee: bigint;
}

function divUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

/** Token0 between two prices. Formula: L * (1/sqrt(low) - 1/sqrt(high)), rounded where the pools round it. */
function amount0Between(a: bigint, b: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const [low, high] = a < b ? [a, b] : [b, a];
  const scaled = liquidity << 96n;
  return roundUp ? divUp(mulDivUp(scaled, high - low, high), low) : mulDivDown(scaled, high - low, high) / low;
}

/** Token1 between two prices. Formula: L * (sqrt(high) - sqrt(low)). */
function amount1Between(a: bigint, b: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const distance = a < b ? b - a : a - b;
  return roundUp ? mulDivUp(liquidity, distance, Q96) : mulDivDown(liquidity, distance, Q96);
}

/**
 * The price after token0 came in, rounded up (towards the pool).
 * Formula: L * sqrt(P) / (L + in * sqrt(P)); where a 256-bit product would overflow the pools use
 * L / (L / sqrt(P) + in), which rounds differently, so the same switch is made here.
 */
function priceAfterToken0(price: bigint, liquidity: bigint, amountIn: bigint): bigint {
  if (amountIn === 0n) return price;
  const scaled = liquidity << 96n;
  const product = amountIn * price;
  if (product <= MAX_UINT256 && scaled + product <= MAX_UINT256) return mulDivUp(scaled, price, scaled + product);
  return divUp(scaled, scaled / price + amountIn);
}

/** The price after token1 came in, rounded down (towards the pool). Formula: sqrt(P) + in / L. */
function priceAfterToken1(price: bigint, liquidity: bigint, amountIn: bigint): bigint {
  return price + (amountIn << 96n) / liquidity;
}

/** Swaps an exact input along one piece of the curve, until the input or the piece ends. */
export function swapStep(start: StepStart): StepEnd {
  const { price, target, liquidity, remaining, feePips } = start;
  const zeroForOne = price >= target;
  const amountBetween = zeroForOne ? amount0Between : amount1Between;
  const remainingLessFee = mulDivDown(remaining, ONE_PIPS - feePips, ONE_PIPS);
  const amountToTarget = amountBetween(target, price, liquidity, true);
  const priceAfter = zeroForOne ? priceAfterToken0 : priceAfterToken1;
  const next = remainingLessFee >= amountToTarget ? target : priceAfter(price, liquidity, remainingLessFee);
  const reached = next === target;
  const amountIn = reached ? amountToTarget : amountBetween(next, price, liquidity, true);
  const amountOut = zeroForOne
    ? amount1Between(next, price, liquidity, false)
    : amount0Between(next, price, liquidity, false);
  // An input that ends inside the piece leaves its rounding remainder to the fee.
  const fee = reached ? mulDivUp(amountIn, feePips, ONE_PIPS - feePips) : remaining - amountIn;
  return { price: next, amountIn, amountOut, fee };
}
