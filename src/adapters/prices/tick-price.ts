/** A price as an exact quotient of whole numbers. */
export interface Quotient {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** No pool of Uniswap V3 can hold a tick beyond. */
export const MAX_TICK = 887_272;

const Q128 = 1n << 128n;
/** Bits that the powers are computed with: twenty squarings lose twenty of them, 128 remain exact by far. */
const PRECISION = 256n;

/**
 * How much of token1 one unit of token0 is worth at a tick: 1.0001^tick, the definition in the Uniswap V3 Core whitepaper,
 * section 6.1. The power is built by squaring in fixed point, rounded down, and is exact to more than 100 bits; a negative
 * tick is the inverse of its positive one.
 * @throws RangeError when no pool can hold the tick
 */
export function priceAtTick(tick: number): Quotient {
  const distance = Math.abs(tick);
  if (!Number.isInteger(tick) || distance > MAX_TICK) throw new RangeError(`no tick of a pool: ${tick}`);
  let power = (10_001n << PRECISION) / 10_000n;
  let product = 1n << PRECISION;
  for (let rest = distance; rest > 0; rest >>= 1) {
    if ((rest & 1) === 1) product = (product * power) >> PRECISION;
    power = (power * power) >> PRECISION;
  }
  const price = product >> (PRECISION - 128n);
  return tick >= 0 ? { numerator: price, denominator: Q128 } : { numerator: Q128, denominator: price };
}

/**
 * The arithmetic mean tick of a window from the cumulative ticks at its two ends, rounded towards negative infinity: the
 * formula of `consult` in OracleLibrary.sol of Uniswap's v3-periphery. The price at it is the geometric mean of prices.
 */
export function meanTick(cumulative: { readonly start: bigint; readonly end: bigint }, windowSeconds: number): number {
  const delta = cumulative.end - cumulative.start;
  const window = BigInt(windowSeconds);
  const quotient = delta / window;
  return Number(delta < 0n && delta % window !== 0n ? quotient - 1n : quotient);
}

/**
 * The harmonic mean of the liquidity in range, from the cumulative seconds per liquidity (in 1/2^128) at the two ends of a
 * window, rounded down: the other half of the same `consult`.
 */
export function meanLiquidity(
  cumulative: { readonly start: bigint; readonly end: bigint },
  windowSeconds: number,
): bigint {
  // The accumulator is a uint160 that may overflow, as the contract lets it.
  const delta = BigInt.asUintN(160, cumulative.end - cumulative.start);
  return delta === 0n ? 0n : (BigInt(windowSeconds) * ((1n << 160n) - 1n)) / (delta << 32n);
}
