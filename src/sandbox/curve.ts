import { larger, smaller } from "../domain/money/bigint.ts";

/**
 * Constant-product and concentrated-liquidity formulas, as far as building and moving pools needs them. Square-root
 * prices are Q64.96 as in Uniswap V3: sqrt(amount of token 1 / amount of token 0) x 2^96, in smallest units.
 * Sources: Uniswap V2 core whitepaper 2.1; Uniswap V3 core whitepaper 6.2 and 6.3.
 */

const Q96 = 1n << 96n;
const ONE_MILLION = 1_000_000n;

/** A price for building pools: any positive integer scale, the same for both sides of a pair. */
export interface PricedToken {
  readonly decimals: number;
  readonly price: bigint;
}

/** Liquidity of a V3 pool between two ticks. */
export interface Range {
  readonly tickLower: number;
  readonly tickUpper: number;
  readonly liquidity: bigint;
}

/** Floor of the square root. @throws RangeError when negative */
export function sqrtDown(value: bigint): bigint {
  if (value < 0n) throw new RangeError(`no square root of ${value}`);
  if (value < 2n) return value;
  // Newton's iteration from above: it falls until it meets the floor.
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** The square-root price at which one whole token 0 is worth `price 0 / price 1` whole tokens 1. Rounded down. */
export function sqrtPriceX96(token0: PricedToken, token1: PricedToken): bigint {
  const numerator = token0.price * 10n ** BigInt(token1.decimals);
  const denominator = token1.price * 10n ** BigInt(token0.decimals);
  return sqrtDown((numerator << 192n) / denominator);
}

/** The square-root price at a tick, 1.0001^(tick/2), to a double's precision: for sizing trades, not for settling them. */
export function sqrtPriceAtTick(tick: number): bigint {
  const root = 1.0001 ** (tick / 2);
  // A double holds 53 bits: scale by 2^48 on each side of the conversion so that small roots keep theirs.
  return root >= 1
    ? BigInt(Math.round(root * 2 ** 48)) << 48n
    : Q96 ** 2n / (BigInt(Math.round(2 ** 48 / root)) << 48n);
}

/** The tick of a square-root price, rounded down to a double's precision. */
export function tickAtSqrtPrice(sqrtX96: bigint): number {
  const root = Number(sqrtX96) / 2 ** 96;
  return Math.floor((2 * Math.log(root)) / Math.log(1.0001));
}

/** What liquidity over a range holds of both tokens at a price, rounded down. */
export function amountsOf(range: Range, sqrtX96: bigint): { amount0: bigint; amount1: bigint } {
  const lower = sqrtPriceAtTick(range.tickLower);
  const upper = sqrtPriceAtTick(range.tickUpper);
  const current = smaller(larger(sqrtX96, lower), upper);
  return {
    amount0: amount0Between(range.liquidity, current, upper),
    amount1: amount1Between(range.liquidity, lower, current),
  };
}

function amount0Between(liquidity: bigint, low: bigint, high: bigint): bigint {
  return (liquidity * (high - low) * Q96) / (low * high);
}

function amount1Between(liquidity: bigint, low: bigint, high: bigint): bigint {
  return (liquidity * (high - low)) / Q96;
}

/** What has to be sold into a pool to move its price. */
export interface Push {
  readonly zeroForOne: boolean;
  /** Gross, the pool's fee included; smallest units of the token sold. */
  readonly amountIn: bigint;
}

/** The sale that moves a V3 pool to a price. `feePips` in parts per million. @returns undefined when it is there */
export function pushV3(
  pool: { sqrtX96: bigint; ranges: readonly Range[]; feePips: number },
  targetX96: bigint,
): Push | undefined {
  const zeroForOne = targetX96 < pool.sqrtX96;
  const low = zeroForOne ? targetX96 : pool.sqrtX96;
  const high = zeroForOne ? pool.sqrtX96 : targetX96;
  let net = 0n;
  for (const range of pool.ranges) {
    const lower = larger(low, sqrtPriceAtTick(range.tickLower));
    const upper = smaller(high, sqrtPriceAtTick(range.tickUpper));
    if (lower >= upper) continue;
    net += zeroForOne ? amount0Between(range.liquidity, lower, upper) : amount1Between(range.liquidity, lower, upper);
  }
  const amountIn = (net * ONE_MILLION) / (ONE_MILLION - BigInt(pool.feePips));
  return amountIn === 0n ? undefined : { zeroForOne, amountIn };
}

/**
 * The sale that moves a V2 pair to a price. With x the reserve sold into, y the other, g = 1 - fee and R the wanted
 * ratio x : y after it, the amount a solves (x + a)(x + g a) = R x y, a quadratic.
 * @returns undefined when the pair is there already
 */
export function pushV2(
  pair: { reserve0: bigint; reserve1: bigint; feePips: number },
  targetX96: bigint,
): Push | undefined {
  const { reserve0, reserve1 } = pair;
  const squared = targetX96 * targetX96;
  const zeroForOne = reserve1 << 192n > reserve0 * squared;
  const x = zeroForOne ? reserve0 : reserve1;
  const product = reserve0 * reserve1;
  // R x y: what x squared has to become.
  const goal = zeroForOne ? (product << 192n) / squared : (product * squared) >> 192n;
  const g = ONE_MILLION - BigInt(pair.feePips);
  // g a^2 + (1 + g) x a + (x^2 - goal) = 0, times a million.
  const linear = (ONE_MILLION + g) * x;
  const amountIn = (sqrtDown(linear * linear + 4n * g * ONE_MILLION * (goal - x * x)) - linear) / (2n * g);
  return goal <= x * x || amountIn <= 0n ? undefined : { zeroForOne, amountIn };
}
