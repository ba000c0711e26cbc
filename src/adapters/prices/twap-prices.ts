import type { Address } from "../../domain/money/address.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import type { ReferencePrice, UsdPrice } from "../../domain/money/price.ts";
import { valueDown } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Chain } from "../../ports/chain.ts";
import type { PriceMissing, PriceSource } from "../../ports/price-source.ts";
import { MAX_TICK, meanLiquidity, meanTick, priceAtTick, type Quotient } from "./tick-price.ts";
import { observe, poolProblem, type TwapPool } from "./twap-pool.ts";
import { unreachable } from "./unreachable.ts";

interface TwapOptions {
  /** by token address */
  readonly pools: ReadonlyMap<Address, TwapPool>;
  /** factories of Uniswap V3 whose pools are believed */
  readonly factories: readonly Address[];
}

/**
 * Reference prices as time-weighted means of Uniswap V3 pools: what moves one block moves them by its share of the window.
 * The pool gives a price in its other token, whose dollars come from `quotePrices`. A pool that is not of a pinned factory
 * and of exactly these two tokens, does not remember the whole window, or had too little liquidity in it gives no price.
 * Liquidity is measured as what the pool's curve holds of the quote token around its price (the harmonic mean over the
 * window): moving the price by one per cent costs about half a per cent of that.
 */
export function createTwapPrices(
  options: TwapOptions,
  deps: { readonly chain: Chain; readonly quotePrices: PriceSource },
): PriceSource {
  const genuine = new Set<Address>();
  return {
    price: async (token) => {
      const pool = options.pools.get(token.address);
      if (pool === undefined) {
        return { missing: "not configured", detail: `${token.symbol} has no pool: set \`twap\` in its token entry` };
      }
      try {
        return await readTwap(pool, { ...deps, factories: options.factories, genuine });
      } catch (error) {
        return unreachable(error);
      }
    },
  };
}

interface TwapRead {
  readonly chain: Chain;
  readonly quotePrices: PriceSource;
  readonly factories: readonly Address[];
  /** pools that were found to be what they should be: what makes them so never changes */
  readonly genuine: Set<Address>;
}

async function readTwap(asked: TwapPool, twapRead: TwapRead): Promise<ReferencePrice | PriceMissing> {
  const { chain, quotePrices, factories, genuine } = twapRead;
  const invalid = (detail: string): PriceMissing => ({
    missing: "invalid",
    detail: `${asked.token.symbol}: the pool ${asked.pool} is not usable: ${detail}`,
  });
  if (!genuine.has(asked.pool)) {
    const problem = await poolProblem(asked, factories, chain);
    if (problem !== undefined) return invalid(problem);
    genuine.add(asked.pool);
  }
  const quote = await quotePrices.price(asked.quote);
  if ("missing" in quote) return { ...quote, detail: `${asked.token.symbol}: ${quote.detail}` };
  const seen = await observe(asked, chain);
  if (typeof seen === "string") return invalid(seen);
  const tick = meanTick(seen.ticks, asked.windowSeconds);
  if (Math.abs(tick) > MAX_TICK) return invalid(`its mean tick is ${tick}`);
  const inQuote = quotePerToken(asked, tick);
  const depth = depthOf(meanLiquidity(seen.secondsPerLiquidity, asked.windowSeconds), inQuote);
  const depthUsd = valueDown({ raw: depth, decimals: asked.quote.decimals }, quote.usd);
  if (depthUsd < asked.minLiquidityUsd) {
    return invalid(
      `its liquidity is worth ${describeDollars(depthUsd)}, asked for are ${describeDollars(asked.minLiquidityUsd)}`,
    );
  }
  const usd = dollarsOf(asked, inQuote, quote.usd);
  if (usd <= 0n) return invalid("its price is too small to be counted");
  const source = `twap of ${asked.windowSeconds} s, pool ${asked.pool}`;
  return { usd, source, atSeconds: Math.min(quote.atSeconds, (await chain.latest()).timestamp) };
}

/** The price of the token's smallest unit in those of the quote token: pools keep the lower address as token0. */
function quotePerToken({ token, quote }: { token: Token; quote: Token }, tick: number): Quotient {
  return priceAtTick(BigInt(token.address) < BigInt(quote.address) ? tick : -tick);
}

/** What the curve holds of the quote token: liquidity x sqrt(price in the quote token), rounded down. */
function depthOf(liquidity: bigint, { numerator, denominator }: Quotient): bigint {
  return squareRoot((liquidity * liquidity * numerator) / denominator);
}

/** Dollars of one whole token, rounded down. */
function dollarsOf({ token, quote }: TwapPool, inQuote: Quotient, quoteUsd: UsdPrice): UsdPrice {
  const numerator = 10n ** BigInt(token.decimals) * inQuote.numerator * quoteUsd;
  return (numerator / (inQuote.denominator * 10n ** BigInt(quote.decimals))) as UsdPrice;
}

/** Square root of a non-negative number, rounded down (Newton's iteration, which only falls). */
function squareRoot(value: bigint): bigint {
  if (value === 0n) return 0n;
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}
