import { describeDollars } from "../../domain/money/for-people.ts";
import { formatPercent, type Ppm } from "../../domain/money/fraction.ts";
import { distanceUp, type ReferencePrice, type SourcePrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { PriceMissing, PriceSource } from "../../ports/price-source.ts";

/** A source, and for which tokens it must answer. */
export interface CoveringSource {
  readonly prices: PriceSource;
  covers(token: Token): boolean;
}

/**
 * One price from all sources that cover a token: each must answer, and no two may be further apart than allowed. None
 * stands in for another. The price is that of the first source; what the others say comes with it, so that a caller
 * that is protected by a high price, or by a low one, can take that.
 */
export function createCombinedPrices(sources: readonly CoveringSource[], maxDivergence: Ppm): PriceSource {
  return {
    price: async (token) => {
      const covering = sources.filter((source) => source.covers(token));
      if (covering.length === 0) {
        return {
          missing: "not configured",
          detail: `${token.symbol} has neither \`feed\` nor \`twap\` in its token entry`,
        };
      }
      const found: ReferencePrice[] = [];
      for (const { prices } of covering) {
        const price = await prices.price(token);
        if ("missing" in price) return price;
        found.push(price);
      }
      return combine(token, found, maxDivergence);
    },
  };
}

function combine(token: Token, found: readonly ReferencePrice[], maxDivergence: Ppm): ReferencePrice | PriceMissing {
  const [first, ...rest] = found;
  if (first === undefined || rest.length === 0) return first ?? { missing: "not configured", detail: token.symbol };
  const byPrice = [...found].sort((one, other) => (one.usd < other.usd ? -1 : one.usd > other.usd ? 1 : 0));
  const low = byPrice[0] ?? first;
  const high = byPrice.at(-1) ?? first;
  const distance = distanceUp(low.usd, high.usd);
  if (distance === undefined || distance > maxDivergence) {
    const apart =
      distance === undefined ? "" : `${formatPercent(distance)} apart, allowed are ${formatPercent(maxDivergence)}: `;
    return { missing: "divergent", detail: `${token.symbol}: ${apart}${said(low)} and ${said(high)}` };
  }
  const atSeconds = found.reduce((oldest, price) => Math.min(oldest, price.atSeconds), first.atSeconds);
  return { ...first, atSeconds, others: rest.map(({ usd, source }) => ({ usd, source })) };
}

function said({ usd, source }: SourcePrice): string {
  return `${source} says ${describeDollars(usd)}`;
}
