import { amountsOf, type PricedToken, type Range, sqrtPriceX96, tickAtSqrtPrice } from "./curve.ts";
import type { PoolPlan, RangePlan, TokenSymbol } from "./plan.ts";
import { FEED_DECIMALS, START_PRICES, TICK_SPACING, TOKENS } from "./plan.ts";

/** A pool's two tokens in the order of the pool, at start prices. */
export interface Sides {
  readonly token0: TokenSymbol;
  readonly token1: TokenSymbol;
}

/** Dollars with the decimals of a feed. */
export function feedPrice(dollars: number): bigint {
  return BigInt(Math.round(dollars * 10 ** FEED_DECIMALS));
}

function priced(symbol: TokenSymbol): PricedToken {
  return { decimals: TOKENS[symbol].decimals, price: feedPrice(START_PRICES[symbol]) };
}

/** The square-root price (Q64.96) of a pool at start prices. */
export function startSqrtPriceX96(sides: Sides): bigint {
  return sqrtPriceX96(priced(sides.token0), priced(sides.token1));
}

/** The two deposits of a V2 pair, half of the dollars each, in smallest units. */
export function depositsV2(sides: Sides, dollars: number): { amount0: bigint; amount1: bigint } {
  const half = feedPrice(dollars / 2);
  return { amount0: worth(priced(sides.token0), half), amount1: worth(priced(sides.token1), half) };
}

function worth(token: PricedToken, value: bigint): bigint {
  return (value * 10n ** BigInt(token.decimals)) / token.price;
}

/** The ranges of a V3 pool at its start price, with the liquidity that their dollars buy. */
export function rangesV3(sides: Sides, plan: Extract<PoolPlan, { kind: 2 }>): Range[] {
  const spacing = TICK_SPACING[plan.fee];
  if (spacing === undefined) throw new Error(`no tick spacing is known for fee tier ${plan.fee}`);
  const sqrtX96 = startSqrtPriceX96(sides);
  const centre = Math.round(tickAtSqrtPrice(sqrtX96) / spacing) * spacing;
  return plan.ranges.map((range) => rangeOf(sides, range, { centre, spacing, sqrtX96 }));
}

/** Liquidity to measure the worth of a range with: large enough that no side of it rounds to nothing. */
const PROBE_LIQUIDITY = 10n ** 30n;

function rangeOf(sides: Sides, plan: RangePlan, at: { centre: number; spacing: number; sqrtX96: bigint }): Range {
  const tickLower = at.centre + Math.round(plan.below / at.spacing) * at.spacing;
  const tickUpper = at.centre + Math.round(plan.above / at.spacing) * at.spacing;
  const { amount0, amount1 } = amountsOf({ tickLower, tickUpper, liquidity: PROBE_LIQUIDITY }, at.sqrtX96);
  const value = dollarsOf(priced(sides.token0), amount0) + dollarsOf(priced(sides.token1), amount1);
  return { tickLower, tickUpper, liquidity: (PROBE_LIQUIDITY * feedPrice(plan.dollars)) / value };
}

function dollarsOf(token: PricedToken, amount: bigint): bigint {
  return (amount * token.price) / 10n ** BigInt(token.decimals);
}
