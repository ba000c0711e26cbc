export interface PriceColumns {
  readonly atSeconds: readonly number[];
  readonly usd: readonly string[];
}

/** A line of prices in dollars. */
export function dollarLine(prices: PriceColumns): { atSeconds: number[]; price: number[] } {
  return { atSeconds: [...prices.atSeconds], price: prices.usd.map(Number) };
}

/** A token's price in another token: at each instant by the other's newest price until then, and from its first one on. */
export function quotedLine(token: PriceColumns, quote: PriceColumns): { atSeconds: number[]; price: number[] } {
  const atSeconds: number[] = [];
  const price: number[] = [];
  let next = 0;
  let unit: number | undefined;
  for (const [place, instant] of token.atSeconds.entries()) {
    while (next < quote.atSeconds.length && (quote.atSeconds[next] ?? 0) <= instant) {
      unit = Number(quote.usd[next]);
      next += 1;
    }
    const usd = Number(token.usd[place]);
    if (unit === undefined || !(unit > 0) || Number.isNaN(usd)) continue;
    atSeconds.push(instant);
    price.push(usd / unit);
  }
  return { atSeconds, price };
}

/** Instants of two lists as one ascending list, each once. */
export function merged(one: readonly number[], other: readonly number[]): number[] {
  return [...new Set([...one, ...other])].sort((a, b) => a - b);
}

/** Values by their instant, null at all others. */
export function placed(
  instants: readonly number[],
  at: readonly number[],
  values: readonly number[],
): (number | null)[] {
  const known = new Map(at.map((instant, place) => [instant, values[place] ?? null]));
  return instants.map((instant) => known.get(instant) ?? null);
}
