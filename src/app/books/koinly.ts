import { type Entry, type Quantity, type SwapEntry, worthOf, worthOfSwap } from "../../domain/books/entry.ts";
import type { Address } from "../../domain/money/address.ts";
import { exactAmount, exactDollars, utcSecond } from "./amounts.ts";
import type { Book } from "./book.ts";
import { csvLine } from "./csv-text.ts";
import { describeEntry } from "./describe-entry.ts";

const HEADER =
  "Date,Sent Amount,Sent Currency,Received Amount,Received Currency,Fee Amount,Fee Currency,Net Worth Amount,Net Worth Currency,Label,Description,TxHash";

/** Koinly's universal file. Its fee goes on top of what was sent: so it is the gas, and fees of the service stay
 * in the amount. What was held before is no transaction: Koinly would make a price up for it. */
export function koinly(book: Book): readonly string[] {
  return [
    HEADER,
    ...book.entries.flatMap((entry) => rowsOf(book, entry).map((row) => csvLine(cellsOf(book, entry, row)))),
  ];
}

interface Row {
  readonly sent?: Quantity | undefined;
  readonly received?: Quantity | undefined;
  readonly fee?: Quantity | undefined;
  readonly worth?: bigint | undefined;
  readonly label?: string;
  /** whose it is, where that is not who sent it */
  readonly wallet?: Address;
}

function rowsOf(book: Book, entry: Entry): readonly Row[] {
  switch (entry.kind) {
    case "swap":
      return book.isWritten(entry.wallet) ? [rowOfSwap(entry)] : [];
    case "gas": {
      const worth = worthOf(entry.gas, entry.price);
      return book.isWritten(entry.wallet) ? [{ sent: entry.gas, worth, label: "cost" }] : [];
    }
    case "transfer": {
      const { moved, worth, recipient } = entry;
      return [
        ...(book.isWritten(entry.wallet) ? [{ sent: moved, worth }] : []),
        ...(entry.isOwn && book.isWritten(recipient) ? [{ received: moved, worth, wallet: recipient }] : []),
      ];
    }
    case "opening":
      return [];
  }
}

function rowOfSwap(entry: SwapEntry): Row {
  const { sold, bought, gas } = entry;
  return { sent: sold, received: bought, fee: gas, worth: worthOfSwap(entry) };
}

function cellsOf(
  book: Book,
  entry: Entry,
  { sent, received, fee, worth, label = "", wallet = entry.wallet }: Row,
): readonly string[] {
  const quantity = (of: Quantity | undefined): readonly string[] =>
    of === undefined ? ["", ""] : [exactAmount(of), book.assetName(of.asset)];
  return [
    utcSecond(entry.atMs),
    ...quantity(sent),
    ...quantity(received),
    ...quantity(fee),
    ...(worth === undefined ? ["", ""] : [exactDollars(worth), "USD"]),
    ...[label, describeEntry(book, entry, wallet), entry.hash ?? ""],
  ];
}
