import type { Address } from "../money/address.ts";
import { type Asset, type Entry, type Quantity, type SwapEntry, worthOf, worthOfSwap } from "./entry.ts";
import { createShelf, type Held, type LotPick, type Part, type Shelf } from "./shelf.ts";

/** How it is decided which lots a sale takes. */
export const LOT_METHODS = ["fifo", "lifo", "average", "pool", "specific"] as const;
export type LotMethod = (typeof LOT_METHODS)[number];

/** Which lots the sales of a wallet take from an instant on, as it was written down then. */
export interface StandingOrder {
  readonly id: number;
  readonly wallet: Address;
  readonly pick: LotPick;
  readonly sinceMs: number;
}

/** Units of an asset that were acquired together and are still there. Values in dollars (1e-18). */
export interface Lot extends Held {
  /** undefined: of all wallets together */
  readonly wallet: Address | undefined;
  readonly asset: Asset;
}

/** Units that left, with what they had cost and what they brought. */
export interface Disposal {
  readonly entry: string;
  readonly why: "swap" | "gas" | "sent";
  readonly wallet: Address;
  readonly asset: Asset;
  /** the lot that they were a part of */
  readonly lot: string;
  readonly raw: bigint;
  readonly acquiredMs: number | undefined;
  readonly atMs: number;
  /** undefined: nobody knows, which is not zero */
  readonly basis: bigint | undefined;
  readonly proceeds: bigint | undefined;
  /** the standing order by which the lot was taken */
  readonly order: number | undefined;
}

/** Units that left and that no entry had brought: they came in from elsewhere, at a cost that nobody knows. */
export interface Unrecorded extends Quantity {
  readonly wallet: Address;
  readonly entry: string;
}

/** What is held, what became of the rest, and what cannot be known. */
export interface LotBook {
  readonly lots: readonly Lot[];
  readonly disposals: readonly Disposal[];
  readonly unrecorded: readonly Unrecorded[];
}

/** By what lots are kept. */
export interface LotRules {
  readonly method: LotMethod;
  /** for `specific`: before the first one of a wallet, its sales take the oldest lots */
  readonly orders: readonly StandingOrder[];
}

/**
 * Keeps lots over entries that are in order. The basis of a part is its share of the lot's, rounded down, and the rest
 * stays with the lot: what was acquired is always what was realised and what remains, to the last unit.
 */
export function keepLots(entries: readonly Entry[], rules: LotRules): LotBook {
  const passedOn = new Set(entries.flatMap((entry) => (entry.kind === "transfer" ? [entry.swapId] : [])));
  const books: Books = { shelves: new Map(), passing: new Map(), passedOn, disposals: [], unrecorded: [], rules };
  for (const entry of entries) keep(books, entry);
  const lots = [...books.shelves.values()].flatMap(({ wallet, asset, shelf }) =>
    shelf.lots().map((held): Lot => ({ ...held, wallet, asset })),
  );
  return { lots, disposals: books.disposals, unrecorded: books.unrecorded };
}

interface Books {
  readonly shelves: Map<string, { readonly wallet: Address | undefined; readonly asset: Asset; readonly shelf: Shelf }>;
  /** swaps whose purchase went on to somebody else in their own transaction */
  readonly passedOn: ReadonlySet<string>;
  /** such purchases on their way, by their swap: they never lie among what the wallet has */
  readonly passing: Map<string, Held>;
  readonly disposals: Disposal[];
  readonly unrecorded: Unrecorded[];
  readonly rules: LotRules;
}

function keep(books: Books, entry: Entry): void {
  const { id, wallet } = entry;
  switch (entry.kind) {
    case "opening": {
      const { held, basis, acquiredMs } = entry;
      shelfOf(books, wallet, held.asset).put({ id, raw: held.raw, basis, acquiredMs });
      return;
    }
    case "gas":
      dispose(books, entry, { quantity: entry.gas, proceeds: worthOf(entry.gas, entry.price), why: "gas" });
      return;
    case "swap":
      keepSwap(books, entry);
      return;
    case "transfer": {
      const { moved, isOwn, recipient, worth, swapId: lot } = entry;
      if (!isOwn) {
        dispose(books, entry, { quantity: moved, proceeds: worth, why: "sent", lot });
        return;
      }
      const parts = take(books, entry, { quantity: moved, lot });
      const there = shelfOf(books, recipient, moved.asset);
      for (const { lot: partOf, ...part } of parts) there.put({ id: partOf, ...part });
      return;
    }
  }
}

function keepSwap(books: Books, entry: SwapEntry): void {
  const { id, wallet, sold, bought, gas, prices, atMs } = entry;
  const worth = worthOfSwap(entry);
  dispose(books, entry, { quantity: sold, proceeds: worth, why: "swap" });
  if (gas !== undefined) dispose(books, entry, { quantity: gas, proceeds: worthOf(gas, prices.native), why: "gas" });
  const lot = { id, raw: bought.raw, basis: worth, acquiredMs: atMs };
  if (books.passedOn.has(id)) books.passing.set(id, lot);
  else shelfOf(books, wallet, bought.asset).put(lot);
}

/** With `pool` the units of all wallets are alike. */
function shelfOf({ shelves, rules }: Books, wallet: Address, asset: Asset): Shelf {
  const key = rules.method === "pool" ? asset.address : `${wallet} ${asset.address}`;
  const known = shelves.get(key);
  if (known !== undefined) return known.shelf;
  const isAveraged = rules.method === "average" || rules.method === "pool";
  const shelf = createShelf({ isAveraged });
  shelves.set(key, { wallet: rules.method === "pool" ? undefined : wallet, asset, shelf });
  return shelf;
}

interface Leaving {
  readonly quantity: Quantity;
  /** the lot that leaves, where the entry itself says which */
  readonly lot?: string;
}

function take(books: Books, { id, wallet, atMs }: Entry, { quantity, lot = "" }: Leaving): readonly Part[] {
  const { asset, raw } = quantity;
  const shelf = shelfOf(books, wallet, asset);
  const passing = books.passing.get(lot);
  books.passing.delete(lot);
  if (passing?.raw === raw) {
    const { basis, acquiredMs } = passing;
    return raw === 0n ? [] : [{ lot, raw, basis, acquiredMs }];
  }
  if (passing !== undefined) shelf.put(passing);
  const missing = raw - shelf.total();
  if (missing > 0n) {
    books.unrecorded.push({ wallet, entry: id, asset, raw: missing });
    shelf.put({ id: `${id}.unrecorded`, raw: missing, basis: undefined, acquiredMs: undefined });
  }
  return shelf.take(raw, { pick: pickOf(books.rules, wallet, atMs).pick, lot });
}

function dispose(
  books: Books,
  entry: Entry,
  leaving: Leaving & { readonly proceeds: bigint | undefined; readonly why: Disposal["why"] },
): void {
  const { quantity, proceeds, why } = leaving;
  const { wallet, atMs } = entry;
  // What goes on to somebody else is its own lot, whatever order stands.
  const isPassing = books.passing.get(leaving.lot ?? "")?.raw === quantity.raw;
  const order = isPassing ? undefined : pickOf(books.rules, wallet, atMs).order;
  let restOfRaw = quantity.raw;
  let restOfProceeds = proceeds;
  for (const part of take(books, entry, leaving)) {
    const share = restOfProceeds === undefined ? undefined : (restOfProceeds * part.raw) / restOfRaw;
    books.disposals.push({
      ...part,
      entry: entry.id,
      why,
      wallet,
      asset: quantity.asset,
      atMs,
      proceeds: share,
      order,
    });
    restOfRaw -= part.raw;
    if (share !== undefined && restOfProceeds !== undefined) restOfProceeds -= share;
  }
}

/** An order holds for sales after it was written down: none is named afterwards. */
function pickOf(
  { method, orders }: LotRules,
  wallet: Address,
  atMs: number,
): { readonly pick: LotPick; readonly order: number | undefined } {
  if (method === "lifo") return { pick: "newest", order: undefined };
  if (method !== "specific") return { pick: "oldest", order: undefined };
  const standing = orders.findLast((order) => order.wallet === wallet && order.sinceMs < atMs);
  return { pick: standing?.pick ?? "oldest", order: standing?.id };
}
