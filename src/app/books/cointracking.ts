import type { Entry, Quantity } from "../../domain/books/entry.ts";
import { exactAmount, utcSecond } from "./amounts.ts";
import type { Book } from "./book.ts";
import { quotedLine } from "./csv-text.ts";
import { describeEntry } from "./describe-entry.ts";

const HEADER = ["Type", "Buy", "Cur.", "Sell", "Cur.", "Fee", "Cur.", "Exchange", "Group", "Comment", "Date", "Tx-ID"];

/** CoinTracking's table. All gas is an "Other Fee" of its own: so it counts once, however a fee of a trade is read
 * there. What was held before is no transaction, and left out. */
export function cointracking(book: Book): readonly string[] {
  return [
    quotedLine(HEADER),
    ...book.entries.flatMap((entry) =>
      rowsOf(entry)
        .filter(({ wallet }) => book.isWritten(wallet))
        .map((row) => quotedLine(cellsOf(book, entry, row))),
    ),
  ];
}

interface Row {
  readonly type: string;
  readonly wallet: Entry["wallet"];
  readonly buy?: Quantity;
  readonly sell?: Quantity;
}

function rowsOf(entry: Entry): readonly Row[] {
  const { wallet } = entry;
  switch (entry.kind) {
    case "swap": {
      const { sold: sell, bought: buy, gas } = entry;
      const fee = gas === undefined ? [] : [{ type: "Other Fee", wallet, sell: gas }];
      return [{ type: "Trade", wallet, buy, sell }, ...fee];
    }
    case "gas":
      return [{ type: "Other Fee", wallet, sell: entry.gas }];
    case "transfer": {
      const there = entry.isOwn ? [{ type: "Deposit", wallet: entry.recipient, buy: entry.moved }] : [];
      return [{ type: "Withdrawal", wallet, sell: entry.moved }, ...there];
    }
    case "opening":
      return [];
  }
}

function cellsOf(book: Book, entry: Entry, { type, wallet, buy, sell }: Row): readonly string[] {
  const quantity = (of: Quantity | undefined): readonly string[] =>
    of === undefined ? ["", ""] : [exactAmount(of), book.assetName(of.asset)];
  return [
    type,
    ...quantity(buy),
    ...quantity(sell),
    ...["", ""],
    ...[book.walletName(wallet), `swapd ${book.network}`, describeEntry(book, entry, wallet)],
    ...[utcSecond(entry.atMs), entry.hash ?? ""],
  ];
}
