import type { Address } from "../money/address.ts";
import { type Asset, type DatedPrice, type Entry, worthOf } from "./entry.ts";
import type { Disposal, LotBook } from "./lots.ts";

/** What is held of an asset in one place. Values in dollars (1e-18). */
export interface Holding {
  /** undefined: in all wallets together */
  readonly wallet: Address | undefined;
  readonly asset: Asset;
  readonly lots: number;
  readonly raw: bigint;
  /** so much of it was acquired at a cost that is known */
  readonly knownRaw: bigint;
  /** what that had cost */
  readonly basis: bigint;
  /** the newest price of the books */
  readonly price: DatedPrice | undefined;
  readonly value: bigint | undefined;
  /** what the part with a known cost is worth beyond that; undefined without a price, or where no part has one */
  readonly unrealised: bigint | undefined;
}

/** What became of what left, by asset and place. */
export interface Realised {
  readonly wallet: Address;
  readonly asset: Asset;
  /** cost and proceeds are known */
  readonly known: { readonly raw: bigint; readonly basis: bigint; readonly proceeds: bigint; readonly result: bigint };
  /** nobody knows what it cost: no result can be told; `unpriced` of it brought nobody knows what, which is in no proceeds */
  readonly unknownBasis: { readonly raw: bigint; readonly proceeds: bigint; readonly unpriced: bigint };
  /** it had a cost, and nobody knows what it brought */
  readonly unvalued: { readonly raw: bigint; readonly basis: bigint };
}

/** The newest price of each asset that the books have. */
export function newestPrices(entries: readonly Entry[]): ReadonlyMap<Address, DatedPrice> {
  const prices = new Map<Address, DatedPrice>();
  const see = ({ address }: Asset, price: DatedPrice | undefined): void => {
    if (price !== undefined && price.atSeconds >= (prices.get(address)?.atSeconds ?? 0)) prices.set(address, price);
  };
  for (const entry of entries) {
    if (entry.kind === "gas") see(entry.gas.asset, entry.price);
    if (entry.kind !== "swap") continue;
    see(entry.sold.asset, entry.prices.sold);
    see(entry.bought.asset, entry.prices.bought);
    if (entry.gas !== undefined) see(entry.gas.asset, entry.prices.native);
  }
  return prices;
}

/** What is held, by place and asset. */
export function holdingsOf({ lots }: LotBook, prices: ReadonlyMap<Address, DatedPrice>): readonly Holding[] {
  const places = Map.groupBy(lots, ({ wallet, asset }) => `${wallet} ${asset.address}`);
  return [...places.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { wallet, asset } = first;
    const known = same.filter(({ basis }) => basis !== undefined);
    const raw = sum(same.map((lot) => lot.raw));
    const knownRaw = sum(known.map((lot) => lot.raw));
    const basis = sum(known.map((lot) => lot.basis ?? 0n));
    const price = prices.get(asset.address);
    const knownWorth = worthOf({ asset, raw: knownRaw }, price);
    const unrealised = knownWorth === undefined || known.length === 0 ? undefined : knownWorth - basis;
    const value = worthOf({ asset, raw }, price);
    return [{ wallet, asset, lots: same.length, raw, knownRaw, basis, price, value, unrealised }];
  });
}

/** What became of what left, by place and asset. */
export function realisedOf(disposals: readonly Disposal[]): readonly Realised[] {
  const places = Map.groupBy(disposals, ({ wallet, asset }) => `${wallet} ${asset.address}`);
  return [...places.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const known = same.filter(({ basis, proceeds }) => basis !== undefined && proceeds !== undefined);
    const unknown = same.filter(({ basis }) => basis === undefined);
    const unpriced = unknown.filter(({ proceeds }) => proceeds === undefined);
    const unvalued = same.filter(({ basis, proceeds }) => basis !== undefined && proceeds === undefined);
    const basis = sum(known.map((part) => part.basis ?? 0n));
    const proceeds = sum(known.map((part) => part.proceeds ?? 0n));
    return [
      {
        ...{ wallet: first.wallet, asset: first.asset },
        known: { raw: sum(known.map(({ raw }) => raw)), basis, proceeds, result: proceeds - basis },
        unknownBasis: {
          raw: sum(unknown.map(({ raw }) => raw)),
          proceeds: sum(unknown.map((part) => part.proceeds ?? 0n)),
          unpriced: sum(unpriced.map(({ raw }) => raw)),
        },
        unvalued: { raw: sum(unvalued.map(({ raw }) => raw)), basis: sum(unvalued.map((part) => part.basis ?? 0n)) },
      },
    ];
  });
}

function sum(parts: readonly bigint[]): bigint {
  return parts.reduce((total, part) => total + part, 0n);
}
