import type { Asset, Entry } from "../../domain/books/entry.ts";
import type { Disposal, LotBook } from "../../domain/books/lots.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { type Book, isEntryWritten } from "./book.ts";
import { oneLine } from "./csv-text.ts";

/** The entries that a ledger is written of: what is before its time is in its opening. */
export function ledgerEntries(book: Book): readonly Entry[] {
  return book.entries.filter((entry) => isEntryWritten(book, entry));
}

/** Wallets that have an account, each with a name that is its own there. */
export function accountNames(book: Book, nameOf: (walletName: string) => string): ReadonlyMap<Address, string> {
  const wallets = new Set<Address>();
  for (const { wallet } of book.before.lots) if (wallet !== undefined) wallets.add(wallet);
  for (const entry of ledgerEntries(book)) {
    wallets.add(entry.wallet);
    if (entry.kind === "swap" || entry.kind === "transfer") wallets.add(entry.recipient);
  }
  const written = [...wallets].filter((wallet) => book.isWritten(wallet));
  const claims = Map.groupBy(written, (wallet) => nameOf(book.walletName(wallet)).toLowerCase());
  return new Map(
    written.map((wallet) => {
      const name = nameOf(book.walletName(wallet));
      const isAlone = claims.get(name.toLowerCase())?.length === 1;
      return [wallet, isAlone ? name : `${name}-${wallet.slice(2)}`];
    }),
  );
}

/** The assets that a ledger counts, the coin of the network among them. */
export function ledgerAssets(book: Book): readonly Asset[] {
  const assets = new Map<Address, Asset>();
  for (const asset of [...book.before.lots.map(({ asset: held }) => held), ...ledgerEntries(book).flatMap(assetsOf)])
    assets.set(asset.address, asset);
  return [...assets.values()].sort((one, other) => (one.address < other.address ? -1 : 1));
}

/** The assets of an entry. */
export function assetsOf(entry: Entry): readonly Asset[] {
  switch (entry.kind) {
    case "swap":
      return [entry.sold.asset, entry.bought.asset, ...(entry.gas === undefined ? [] : [entry.gas.asset])];
    case "gas":
      return [entry.gas.asset];
    case "transfer":
      return [entry.moved.asset];
    case "opening":
      return [entry.held.asset];
  }
}

/** What left by an entry, lot by lot. */
export function disposalsOf({ disposals }: LotBook): (entry: Entry, why: Disposal["why"]) => readonly Disposal[] {
  const byEntry = Map.groupBy(disposals, ({ entry, why }) => `${why} ${entry}`);
  return ({ id }, why) => byEntry.get(`${why} ${id}`) ?? [];
}

/** What an entry is about, without anything that means something to a ledger. */
export function aboutEntry(entry: Entry): string {
  const { strategy } = entry;
  const what = entry.kind === "gas" ? `gas of ${entry.purpose}` : entry.kind;
  return oneLine(strategy === undefined ? what : `${strategy.replaceAll(/[;|"\\]/g, " ")}: ${what}`);
}

/** Where a contract stands, for comments. */
export function describeContract({ address }: Asset): string {
  return address === NATIVE_TOKEN ? "the network's own coin" : address;
}

/** Of which network, in the first line: rehearsals and paper are not to be taken for money. */
export function titleOf({ world, network }: Book): string {
  if (world === "live") return `swapd on ${network}`;
  return `swapd on ${network}: ${world.toUpperCase()}, nothing of it is real money`;
}
