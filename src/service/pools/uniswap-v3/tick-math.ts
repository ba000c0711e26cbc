import { MAX_UINT256 } from "../../../domain/money/amount.ts";
/** The lowest tick whose price a pool can hold. */
export const MIN_TICK = -887_272;
/** The highest tick whose price a pool can hold. */
export const MAX_TICK = 887_272;
/** sqrt(1.0001^MIN_TICK) in Q64.96. */
export const MIN_SQRT_RATIO = 4_295_128_739n;
/** sqrt(1.0001^MAX_TICK) in Q64.96. */
export const MAX_SQRT_RATIO = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n;

const LOG_OF_TICK = Math.log(1.0001);

/** sqrt(1.0001)^-(2^i) in Q128.128, rounded to the nearest, for i = 0..19: a tick has 20 bits. */
const NEGATIVE_POWERS = negativePowers();

/** Square root of a non-negative number, rounded down (Newton's iteration). */
function squareRoot(value: bigint): bigint {
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

function negativePowers(): readonly bigint[] {
  // Twenty squarings lose twenty bits at most; 512 leave far more than the 128 that are kept.
  const precision = 512n;
  let power = squareRoot(((10_000n << precision) / 10_001n) << precision);
  return Array.from({ length: 20 }, () => {
    const rounded = (power + (1n << (precision - 129n))) >> (precision - 128n);
    power = (power * power) >> precision;
    return rounded;
  });
}

/** Prices of ticks met before: quotes meet the same ones again and again. Emptied when full. */
const knownRatios = new Map<number, bigint>();
const MAX_KNOWN_RATIOS = 100_000;

/** {@link computeSqrtRatioAtTick}, remembered. */
export function sqrtRatioAtTick(tick: number): bigint {
  const known = knownRatios.get(tick);
  if (known !== undefined) return known;
  const ratio = computeSqrtRatioAtTick(tick);
  if (knownRatios.size >= MAX_KNOWN_RATIOS) knownRatios.clear();
  knownRatios.set(tick, ratio);
  return ratio;
}

/**
 * sqrt(1.0001^tick) in Q64.96, exactly as the pools round it: binary powers multiplied in Q128.128 with truncation,
 * inverted for positive ticks, and rounded up to Q64.96.
 * @throws RangeError when the tick is outside of what a pool can hold
 */
function computeSqrtRatioAtTick(tick: number): bigint {
  const distance = Math.abs(tick);
  if (!Number.isInteger(tick) || distance > MAX_TICK) throw new RangeError(`no tick of a pool: ${tick}`);
  let ratio = 1n << 128n;
  for (let bit = 0; distance >> bit > 0; bit += 1) {
    if ((distance >> bit) & 1) ratio = (ratio * (NEGATIVE_POWERS[bit] as bigint)) >> 128n;
  }
  if (tick > 0) ratio = MAX_UINT256 / ratio;
  return (ratio + 0xffffffffn) >> 32n;
}

/** The highest tick whose price is not above the given one. @throws RangeError when the price is out of bounds */
export function tickAtSqrtRatio(sqrtRatio: bigint): number {
  if (sqrtRatio < MIN_SQRT_RATIO || sqrtRatio >= MAX_SQRT_RATIO)
    throw new RangeError(`no price of a pool: ${sqrtRatio}`);
  // A double knows the logarithm to a small part of a tick; the exact prices on both sides decide.
  let tick = Math.floor((2 * Math.log(Number(sqrtRatio) / 2 ** 96)) / LOG_OF_TICK);
  tick = Math.min(Math.max(tick, MIN_TICK), MAX_TICK - 1);
  while (sqrtRatioAtTick(tick) > sqrtRatio) tick -= 1;
  while (sqrtRatioAtTick(tick + 1) <= sqrtRatio) tick += 1;
  return tick;
}
