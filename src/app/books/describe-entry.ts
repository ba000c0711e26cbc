import type { Asset, Entry, SwapEntry } from "../../domain/books/entry.ts";
import type { Address } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import type { Book } from "./book.ts";

/**
 * An entry in a sentence, for the one free column of foreign formats: contracts, fees, whose it is.
 * @param wallet whose side of it is written
 */
export function describeEntry(book: Book, entry: Entry, wallet: Address): string {
  const parts = [...aboutKind(book, entry), `wallet ${book.walletName(wallet)}`];
  if (entry.strategy !== undefined) parts.push(`strategy ${entry.strategy}`);
  if (book.world !== "live") parts.push(`of the ${book.world}, no real money`);
  return parts.join("; ");
}

function aboutKind(book: Book, entry: Entry): readonly string[] {
  const named = ({ address }: Asset): string => `${book.assetName({ address })} is ${address}`;
  switch (entry.kind) {
    case "swap":
      return [`swap ${entry.id}`, named(entry.sold.asset), named(entry.bought.asset), ...aboutFees(entry)];
    case "gas":
      return [`gas of ${entry.purpose === "approval" ? "an" : "a"} ${entry.purpose}`];
    case "transfer": {
      const to = entry.isOwn ? `to our wallet ${book.walletName(entry.recipient)}` : `sent to ${entry.recipient}`;
      return [`bought by ${entry.swapId}, ${to}`, named(entry.moved.asset)];
    }
    case "opening":
      return [
        "held before, or from elsewhere",
        named(entry.held.asset),
        ...(entry.basis === undefined ? ["cost not known"] : []),
      ];
  }
}

function aboutFees({ fees, sold, isAssumed }: SwapEntry): readonly string[] {
  const inSold = (raw: bigint): string => formatUnits(raw, sold.asset.decimals);
  return [
    ...(fees.service === undefined || fees.service === 0n
      ? []
      : [`of what was sent, ${inSold(fees.service)} to the service`]),
    ...(fees.affiliate === undefined || fees.affiliate === 0n
      ? []
      : [`of what was sent, ${inSold(fees.affiliate)} to the affiliate`]),
    ...(isAssumed ? ["amounts assumed: the worst that was signed"] : []),
  ];
}
