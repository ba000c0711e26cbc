import { formatAmount } from "../money/amount.ts";
import type { Token } from "../money/token.ts";
import type { Rate, StrategyPause, StrategyView } from "./decision.ts";

/** What slices sell and buy, and the rate at which their strategy stops itself. */
interface Priced {
  readonly sell: { readonly token: Token };
  readonly buy: Token;
  readonly limit: { readonly abort: Rate | undefined };
}

/** How much is bought for how much sold at reference prices. @returns undefined when a price is missing */
export function referenceRate({ sell, buy }: Priced, prices: StrategyView["prices"]): Rate | undefined {
  const sold = prices.get(sell.token.address)?.usd;
  const bought = prices.get(buy.address)?.usd;
  if (sold === undefined || bought === undefined || sold <= 0n || bought <= 0n) return undefined;
  return { bought: sold * 10n ** BigInt(buy.decimals), sold: bought * 10n ** BigInt(sell.token.decimals) };
}

/** Compares two rates without division, so nothing is rounded. */
export function isWorse(rate: Rate, than: Rate): boolean {
  return rate.bought * than.sold < than.bought * rate.sold;
}

/** A rate as the price of one sold token. */
export function describeRate({ sell: { token }, buy }: Priced, rate: Rate): string {
  const one = 10n ** BigInt(token.decimals);
  return `1 ${token.symbol} is ${formatAmount({ token: buy, raw: (rate.bought * one) / rate.sold })}`;
}

/** Why the strategy stops itself at these prices; undefined where it does not, or one of them is missing. */
export function abortAt(spec: Priced, prices: StrategyView["prices"]): StrategyPause | undefined {
  const { abort } = spec.limit;
  const rate = referenceRate(spec, prices);
  if (abort === undefined || rate === undefined || !isWorse(rate, abort)) return undefined;
  return {
    code: "price_abort",
    detail: `${describeRate(spec, rate)}; the abort price is ${describeRate(spec, abort)}`,
  };
}
