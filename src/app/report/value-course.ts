import {
  type Asset,
  changesOf,
  type DatedPrice,
  type Entry,
  isDated,
  type Quantity,
  worthOf,
} from "../../domain/books/entry.ts";
import type { Address } from "../../domain/money/address.ts";

/** What all that was counted was worth at an instant, by asset, in dollars (1e-18). */
export interface ValuePoint {
  readonly atMs: number;
  readonly byAsset: ReadonlyMap<Address, bigint>;
  readonly total: bigint;
}

/** What the wallets of a book had over time, by the newest price of each asset that the books had by then. */
export interface ValueCourse {
  readonly points: readonly ValuePoint[];
  /** held, and without any price in the books: in no total */
  readonly unpriced: readonly Asset[];
}

/**
 * Follows what is held from entry to entry. Until the first price of an asset, that one counts.
 * @param isCounted whether a wallet is one of those that are asked for
 */
export function followValue(
  entries: readonly Entry[],
  { sinceMs, isCounted }: { readonly sinceMs: number; isCounted(wallet: Address): boolean },
): ValueCourse {
  const held = new Map<string, Quantity>();
  const prices = firstPrices(entries);
  const points: ValuePoint[] = [];
  for (const entry of entries) {
    for (const [asset, price] of pricesOf(entry)) if (price !== undefined) prices.set(asset.address, price);
    const own = changesOf(entry).filter(({ wallet }) => isCounted(wallet));
    for (const change of own) move(held, change);
    // What a block or a beginning brings together is one point.
    if (points.at(-1)?.atMs === entry.atMs) points.pop();
    if (isDated(entry) && entry.atMs >= sinceMs) points.push(pointOf(entry.atMs, held, prices));
  }
  const unpriced = [...held.values()].filter(({ asset, raw }) => raw > 0n && !prices.has(asset.address));
  const assets = new Map(unpriced.map(({ asset }) => [asset.address, asset]));
  return { points, unpriced: [...assets.values()] };
}

/** What leaves and was not there came in without a record: it is no debt of what comes later, or of another wallet. */
function move(held: Map<string, Quantity>, { wallet, asset, raw }: Quantity & { readonly wallet: Address }): void {
  const place = `${wallet} ${asset.address}`;
  const left = (held.get(place)?.raw ?? 0n) + raw;
  held.set(place, { asset, raw: left > 0n ? left : 0n });
}

function firstPrices(entries: readonly Entry[]): Map<Address, DatedPrice> {
  const first = new Map<Address, DatedPrice>();
  for (const [{ address }, price] of entries.flatMap(pricesOf))
    if (price !== undefined && !first.has(address)) first.set(address, price);
  return first;
}

function pointOf(
  atMs: number,
  held: ReadonlyMap<string, Quantity>,
  prices: ReadonlyMap<Address, DatedPrice>,
): ValuePoint {
  const byAsset = new Map<Address, bigint>();
  for (const { asset, raw } of held.values()) {
    const worth = raw === 0n ? 0n : worthOf({ asset, raw }, prices.get(asset.address));
    if (worth !== undefined) byAsset.set(asset.address, (byAsset.get(asset.address) ?? 0n) + worth);
  }
  return { atMs, byAsset, total: [...byAsset.values()].reduce((sum, worth) => sum + worth, 0n) };
}

function pricesOf(entry: Entry): readonly (readonly [Asset, DatedPrice | undefined])[] {
  if (entry.kind === "gas") return [[entry.gas.asset, entry.price]];
  if (entry.kind !== "swap") return [];
  const { sold, bought, gas, prices } = entry;
  const native = gas === undefined ? [] : ([[gas.asset, prices.native]] as const);
  return [[sold.asset, prices.sold], [bought.asset, prices.bought], ...native];
}
