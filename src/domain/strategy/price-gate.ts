import { formatAmount } from "../money/amount.ts";
import { amountWorthDown, type UsdPrice, valueDown } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { StrategyView } from "./decision.ts";

/** Lets a strategy trade only while the price of one whole token, in another one, satisfies a comparison. */
export interface PriceGate {
  readonly of: Token;
  readonly comparison: "<" | "<=" | ">" | ">=";
  /** `raw` smallest units of `quote` for one whole token */
  readonly price: { readonly quote: Token; readonly raw: bigint };
}

/** Whether the gate is open at the prices of a view; without both prices it is not. */
export function checkGate(
  gate: PriceGate,
  prices: StrategyView["prices"],
): { readonly open: boolean; readonly priced: boolean; readonly detail: string } {
  const { of, price } = gate;
  const usd = prices.get(of.address)?.usd;
  const quoteUsd = prices.get(price.quote.address)?.usd;
  if (usd === undefined || quoteUsd === undefined || usd <= 0n || quoteUsd <= 0n) {
    return { open: false, priced: false, detail: `no reference price for ${of.symbol} in ${price.quote.symbol}` };
  }
  const seen = formatAmount({ token: price.quote, raw: priceIn(of, { usd, quoteUsd }, price.quote) });
  const wanted = `${gate.comparison} ${formatAmount({ token: price.quote, raw: price.raw })}`;
  const detail = `${of.symbol} stands at ${seen}, it must be ${wanted}`;
  return { open: compare(gate, { usd, quoteUsd }), priced: true, detail };
}

/** Formula: usd x 10^quoteDecimals compared with raw x quoteUsd, without division. */
function compare({ comparison, price }: PriceGate, at: { usd: UsdPrice; quoteUsd: UsdPrice }): boolean {
  const now = at.usd * 10n ** BigInt(price.quote.decimals);
  const bound = price.raw * at.quoteUsd;
  switch (comparison) {
    case "<":
      return now < bound;
    case "<=":
      return now <= bound;
    case ">":
      return now > bound;
    case ">=":
      return now >= bound;
  }
}

function priceIn(of: Token, at: { usd: UsdPrice; quoteUsd: UsdPrice }, quote: Token): bigint {
  const value = valueDown({ raw: 10n ** BigInt(of.decimals), decimals: of.decimals }, at.usd);
  return amountWorthDown(value, { decimals: quote.decimals, usd: at.quoteUsd });
}
