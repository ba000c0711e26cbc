import { formatUnits } from "../money/amount.ts";
import type { UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { Rate, StrategyView } from "./decision.ts";

/** What one whole token is worth in whole tokens of another, scaled by 1e18: fine enough for tokens of tiny value. */
export type PairPrice = bigint & { readonly __pairPrice: unique symbol };

/** A token that is priced, and the one that it is priced in. */
export interface Pair {
  readonly watch: Token;
  readonly quote: Token;
}

const SCALE_DECIMALS = 18;
const SCALE = 10n ** BigInt(SCALE_DECIMALS);

/** A price that was written down as an amount of the quote token: `raw` of its smallest units for one whole token. */
export function pairPriceOf(raw: bigint, quote: Token): PairPrice {
  return ((raw * SCALE) / 10n ** BigInt(quote.decimals)) as PairPrice;
}

/** The price at the reference prices of a view, rounded down. @returns undefined when one of the two has none */
export function readPairPrice(pair: Pair, prices: StrategyView["prices"]): PairPrice | undefined {
  const watched: UsdPrice | undefined = prices.get(pair.watch.address)?.usd;
  const quote: UsdPrice | undefined = prices.get(pair.quote.address)?.usd;
  if (watched === undefined || quote === undefined || watched <= 0n || quote <= 0n) return undefined;
  return ((watched * SCALE) / quote) as PairPrice;
}

/**
 * The price as an exact rate of exchange in smallest units, for a swap between the two tokens of the pair: no rounding,
 * so the floor is the price that was written.
 */
export function rateAt(price: PairPrice, pair: Pair, sells: "watch" | "quote"): Rate {
  const inQuote = price * 10n ** BigInt(pair.quote.decimals);
  const inWatch = SCALE * 10n ** BigInt(pair.watch.decimals);
  return sells === "watch" ? { bought: inQuote, sold: inWatch } : { bought: inWatch, sold: inQuote };
}

/** Writes a price for people, cut off at the quote token's decimals, or later when nothing would be left. */
export function formatPairPrice(price: PairPrice, quote: Token): string {
  const cut = 10n ** BigInt(Math.max(0, SCALE_DECIMALS - quote.decimals));
  const shown = price >= cut ? price - (price % cut) : price;
  return `${formatUnits(shown, SCALE_DECIMALS)} ${quote.symbol}`;
}
