import type { Asset, Entry } from "../../domain/books/entry.ts";
import type { LotBook } from "../../domain/books/lots.ts";
import type { Address } from "../../domain/money/address.ts";

/** Where the swaps of a book happened: only the first one is a network with real money. */
export type World = "live" | "sandbox" | "paper" | "rehearsal";

/** What a writer writes down. */
export interface Book {
  readonly world: World;
  readonly network: string;
  /** in the order of the chain, of the time that was asked for; of other wallets too */
  readonly entries: readonly Entry[];
  /** lots before the first of these entries, by the oldest first */
  readonly before: LotBook;
  /** lots over all entries up to the last of these, by the oldest first */
  readonly whole: LotBook;
  /** when `before` ends */
  readonly sinceMs: number;
  /** whether a wallet's side is written */
  isWritten(wallet: Address): boolean;
  /** the configured name of a wallet, else its address */
  walletName(wallet: Address): string;
  /** what the writer's format calls an asset */
  assetName(asset: Pick<Asset, "address">): string;
}

/** Whether any of its sides is written. */
export function isEntryWritten(book: Pick<Book, "isWritten">, entry: Entry): boolean {
  return book.isWritten(entry.wallet) || (entry.kind === "transfer" && book.isWritten(entry.recipient));
}
