import { isRecord } from "../../../domain/json.ts";
import type { ReferencePrice, UsdPrice } from "../../../domain/money/price.ts";
import type { ExpectedSwap, PriceEvidence } from "../../../domain/run/records.ts";

/** JSON that any reader understands: dollars scaled by 1e18 as text; a price that was missing is null. */
export function encodePrices({ readAtMs, sold, bought, native, expected }: PriceEvidence): string {
  const prices = { readAtMs, sold: sold ?? null, bought: bought ?? null, native: native ?? null, expected };
  return JSON.stringify(prices, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
}

/** Reads what {@link encodePrices} wrote. */
export function decodePrices(text: string): PriceEvidence {
  const stored = JSON.parse(text) as Record<string, unknown> & { readAtMs: number };
  const { readAtMs, sold, bought, native, expected } = stored;
  const prices = { readAtMs, sold: decodePrice(sold), bought: decodePrice(bought), native: decodePrice(native) };
  return isRecord(expected) ? { ...prices, expected: decodeExpected(expected) } : prices;
}

function decodeExpected({ priceImpact, ...stored }: Record<string, unknown>): ExpectedSwap {
  const amounts = Object.fromEntries(Object.entries(stored).map(([name, text]) => [name, BigInt(String(text))]));
  const impact = priceImpact === undefined ? undefined : BigInt(String(priceImpact));
  return { ...(amounts as unknown as Omit<ExpectedSwap, "priceImpact">), priceImpact: impact };
}

function decodePrice(stored: unknown): ReferencePrice | undefined {
  if (!isRecord(stored)) return undefined;
  const { others, ...price } = stored as unknown as StoredPrice;
  const sources = others?.map(({ usd, source }) => ({ source, usd: BigInt(usd) as UsdPrice }));
  return { ...price, usd: BigInt(price.usd) as UsdPrice, ...(sources === undefined ? {} : { others: sources }) };
}

interface StoredPrice {
  readonly usd: string;
  readonly source: string;
  readonly atSeconds: number;
  readonly others?: readonly { readonly usd: string; readonly source: string }[];
}
