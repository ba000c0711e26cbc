import type { Fill } from "../answers.ts";

export interface Gain {
  /** dollars of what the swaps brought, less dollars of what they took, both at prices of now */
  readonly usd: number;
  /** of what they took */
  readonly percent: number;
}

/**
 * What the swaps of each strategy came to against none of them, at one price a token: of purchases it is the gain since.
 * Without gas, and of the fills that are given; a strategy of which a price is missing has none.
 */
export function gainsOf(fills: readonly Fill[], priceOf: ReadonlyMap<string, number>): ReadonlyMap<string, Gain> {
  const sums = new Map<string, { took: number; brought: number }>();
  for (const { strategy, sold, bought } of fills) {
    const sum = sums.get(strategy) ?? { took: 0, brought: 0 };
    sum.took += Number(sold.amount) * (priceOf.get(sold.address) ?? Number.NaN);
    sum.brought += Number(bought.amount) * (priceOf.get(bought.address) ?? Number.NaN);
    sums.set(strategy, sum);
  }
  return new Map(
    [...sums].flatMap(([strategy, { took, brought }]) =>
      took > 0 && brought > 0
        ? [[strategy, { usd: brought - took, percent: (brought / took - 1) * 100 }] as const]
        : [],
    ),
  );
}
