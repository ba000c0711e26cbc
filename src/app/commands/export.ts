import { keepLots } from "../../domain/books/lots.ts";
import type { Address } from "../../domain/money/address.ts";
import { nameAssetsFor } from "../books/asset-file.ts";
import { type Book, isEntryWritten } from "../books/book.ts";
import { FORMATS, type FormatName } from "../books/formats.ts";
import { type BookOptions, type Books, readBooks } from "../books/read-books.ts";
import { timeRange } from "../books/time-range.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { nameTarget } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** What `swapd export` is asked for. */
interface ExportOptions extends BookOptions {
  readonly format: FormatName;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly names?: string | undefined;
}

/** By the oldest first: ledgers that book lots do the same. */
const OLDEST_FIRST = { method: "fifo", orders: [] } as const;

/** `swapd export`: the books in a format of others, from the rows alone. What cannot be in it is said beside it. */
export async function exportBooks(options: ExportOptions, terminal: Terminal): Promise<void> {
  const { since, until } = timeRange(options);
  const format = FORMATS[options.format];
  const books = await readBooks(options);
  if (format.isForRealMoney && (books.world === "paper" || books.world === "rehearsal"))
    throw new CommandFailure(
      EXIT.no,
      `these are books of a ${books.world === "paper" ? "wallet on paper" : "rehearsal"}, and ${options.format} cannot tell them from real trades; csv, jsonl, hledger and beancount say of each book what it is`,
    );
  const upTo = books.entries.filter(({ atMs }) => atMs < until);
  const entries = upTo.filter(({ atMs }) => atMs >= since);
  const isWritten = (wallet: Address): boolean => books.wallet === undefined || wallet === books.wallet;
  const names = nameAssetsFor(books.entries, options.names, format.names);
  const book: Book = {
    ...{ world: books.world, network: books.network, entries, sinceMs: since },
    before: keepLots(
      upTo.filter(({ atMs }) => atMs < since),
      OLDEST_FIRST,
    ),
    whole: keepLots(upTo, OLDEST_FIRST),
    isWritten,
    walletName: books.walletName,
    assetName: ({ address }) => names.get(address) ?? address,
  };
  const lines = format.write(book);
  if (lines.length > 0) terminal.out(lines.join("\n"));
  for (const note of notesOf(books, book, format.leavesOut)) terminal.err(note);
}

/** What a reader must know of an export that does not stand in it. */
function notesOf(books: Books, book: Book, leavesOut: string | undefined): readonly string[] {
  const { rows, world, target } = books;
  const written = book.entries.filter((entry) => isEntryWritten(book, entry));
  const count = (kind: string): number => written.filter((entry) => entry.kind === kind).length;
  const notes = [`${count("swap")} swaps and ${count("gas")} transactions with gas alone, ${nameTarget(target)}`];
  if (world !== "live") notes.push(`of the ${world}: none of it is real money`);
  if (rows.open.length > 0) {
    const ids = rows.open.slice(0, 5).map(({ swapId, state }) => `${swapId} (${state})`);
    const more = rows.open.length > ids.length ? ` and ${rows.open.length - ids.length} more` : "";
    notes.push(`not final yet and left out, export again later: ${ids.join(", ")}${more}`);
  }
  if (leavesOut !== undefined && books.entries.some(({ kind }) => kind === "opening")) notes.push(leavesOut);
  return notes;
}
