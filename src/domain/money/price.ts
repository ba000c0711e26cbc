import { formatUnits, mulDivDown, mulDivUp, parseUnits } from "./amount.ts";
import { ONE_PPM, type Ppm } from "./fraction.ts";

/**
 * The value of one whole token in US dollars, scaled by 1e18. All reference prices share this unit, so that the price of
 * any pair is the ratio of two of them.
 */
export type UsdPrice = bigint & { readonly __usd: unique symbol };

/** Dollars are counted in 1e-18. */
export const USD_DECIMALS = 18;

/** What one source says. */
export interface SourcePrice {
  readonly usd: UsdPrice;
  readonly source: string;
}

/** A token's price with its place of origin and its age. `atSeconds` is Unix time by the source's own clock. */
export interface ReferencePrice extends SourcePrice {
  readonly atSeconds: number;
  /** what further sources say at the same time, near enough to agree; absent where one source answers alone */
  readonly others?: readonly SourcePrice[];
}

/** Every source's word on a price, its own first. */
export function sourcesOf(price: ReferencePrice): readonly SourcePrice[] {
  return [{ usd: price.usd, source: price.source }, ...(price.others ?? [])];
}

/** The same price by the source that says most: what we sell is worth the most, which asks for the largest output. */
export function highestOf(price: ReferencePrice): ReferencePrice {
  return chosenBy(price, (left, right) => left > right);
}

/** The same price by the source that says least: what we buy is worth the least, which asks for the largest output. */
export function lowestOf(price: ReferencePrice): ReferencePrice {
  return chosenBy(price, (left, right) => left < right);
}

function chosenBy(price: ReferencePrice, isBetter: (left: UsdPrice, right: UsdPrice) => boolean): ReferencePrice {
  const all = sourcesOf(price);
  const chosen = all.reduce((best, next) => (isBetter(next.usd, best.usd) ? next : best));
  const others = all.filter((each) => each !== chosen);
  return others.length === 0 ? price : { ...chosen, atSeconds: price.atSeconds, others };
}

/**
 * How far two values are from each other as a share of the smaller one, rounded up: the strictest of the ways to say it.
 * A value that is not positive is infinitely far from every other.
 */
export function distanceUp(one: bigint, other: bigint): Ppm | undefined {
  const [low, high] = one < other ? [one, other] : [other, one];
  return low <= 0n ? undefined : (mulDivUp(high - low, ONE_PPM, low) as Ppm);
}

/** Reads "4500" or "0.38" as dollars. @returns undefined when it is no decimal number */
export function parseUsd(text: string): UsdPrice | undefined {
  const raw = parseUnits(text, USD_DECIMALS);
  return typeof raw === "bigint" ? (raw as UsdPrice) : undefined;
}

/** Value of an amount in dollars (1e-18), rounded down. Formula: raw x usd / 10^decimals. */
export function valueDown(amount: { raw: bigint; decimals: number }, usd: UsdPrice): bigint {
  return mulDivDown(amount.raw, usd, 10n ** BigInt(amount.decimals));
}

/** Value of an amount in dollars (1e-18), rounded up: for limits, which protect us. */
export function valueUp(amount: { raw: bigint; decimals: number }, usd: UsdPrice): bigint {
  return mulDivUp(amount.raw, usd, 10n ** BigInt(amount.decimals));
}

/** How much of a token is worth `value` dollars (1e-18), rounded down. Formula: value x 10^decimals / usd. */
export function amountWorthDown(value: bigint, token: { decimals: number; usd: UsdPrice }): bigint {
  return mulDivDown(value, 10n ** BigInt(token.decimals), token.usd);
}

/**
 * What an amount of one token is worth in another at reference prices, rounded up (a minimum protects us).
 * Formula: raw x usdIn x 10^decimalsOut / (usdOut x 10^decimalsIn).
 */
export function convertUp(
  sold: { raw: bigint; decimals: number; usd: UsdPrice },
  bought: { decimals: number; usd: UsdPrice },
): bigint {
  return mulDivUp(sold.raw * sold.usd, 10n ** BigInt(bought.decimals), bought.usd * 10n ** BigInt(sold.decimals));
}

/** Dollars as they are written in files: 500 USD. */
export function formatDollars(usd: bigint): string {
  return `${formatUnits(usd, USD_DECIMALS)} USD`;
}
