import {
  type DatedPrice,
  type Entry,
  isDated,
  type Quantity,
  type SwapEntry,
  worthOf,
  worthOfSwap,
} from "../../domain/books/entry.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { formatInstant } from "../terminal.ts";
import { exactAmount, exactDollars } from "./amounts.ts";
import { type Book, isEntryWritten } from "./book.ts";

/** All that is known of an entry, as flat text; null: nobody knows, or it has none. */
export type FlatRecord = Readonly<Record<(typeof COLUMNS)[number], string | null>>;

/** Our own columns, in the order of the table. */
export const COLUMNS = [
  ...["world", "network", "type", "purpose", "time", "block", "transaction", "wallet", "wallet_address"],
  ...["recipient", "recipient_address", "strategy", "swap", "mode"],
  ...["sold_amount", "sold_asset", "sold_contract", "bought_amount", "bought_asset", "bought_contract"],
  ...["service_fee", "affiliate_fee", "fee_asset", "gas_amount", "gas_asset", "value_usd", "gas_value_usd"],
  ...["sold_price_usd", "sold_price_source", "sold_price_time"],
  ...["bought_price_usd", "bought_price_source", "bought_price_time"],
  ...["gas_price_usd", "gas_price_source", "gas_price_time", "note"],
] as const;

const NOTHING = Object.fromEntries(COLUMNS.map((name) => [name, null])) as FlatRecord;

/** The entries of a book whose sides are asked for, in their order. */
export function flatRecords(book: Book): readonly FlatRecord[] {
  return book.entries.filter((entry) => isEntryWritten(book, entry)).map((entry) => flatRecord(book, entry));
}

function flatRecord(book: Book, entry: Entry): FlatRecord {
  const { kind: type, wallet, atMs, blockNumber, hash, strategy, id } = entry;
  const head = {
    ...NOTHING,
    ...{ world: book.world, network: book.network, type, block: String(blockNumber) },
    time: isDated(entry) ? formatInstant(atMs) : null,
    ...{ transaction: hash ?? null, wallet: book.walletName(wallet), wallet_address: wallet },
    ...{ strategy: strategy ?? null },
  };
  switch (entry.kind) {
    case "swap":
      return { ...head, swap: id, ...ofSwap(book, entry) };
    case "gas":
      return {
        ...head,
        purpose: entry.purpose,
        ...ofGas(book, entry.gas, entry.price),
        note: entry.succeeded ? null : "the transaction reverted",
      };
    case "transfer":
      return {
        ...head,
        ...{ purpose: entry.isOwn ? "to a wallet of ours" : "sent away", swap: entry.swapId },
        ...{ recipient: book.walletName(entry.recipient), recipient_address: entry.recipient },
        ...side(book, "bought", entry.moved),
        ...priceOf("bought", entry.price),
        value_usd: dollars(entry.worth),
      };
    case "opening":
      return {
        ...head,
        purpose: "held before, or from elsewhere",
        ...side(book, "bought", entry.held),
        value_usd: dollars(entry.basis),
        note: entry.basis === undefined ? "what it cost is not known" : null,
      };
  }
}

function ofSwap(book: Book, entry: SwapEntry): Partial<FlatRecord> {
  const { sold, bought, recipient, fees, gas, prices, mode, isAssumed } = entry;
  const fee = (raw: bigint | undefined): string | null =>
    raw === undefined ? null : formatUnits(raw, sold.asset.decimals);
  return {
    ...{ mode: mode ?? null, recipient: book.walletName(recipient), recipient_address: recipient },
    ...side(book, "sold", sold),
    ...side(book, "bought", bought),
    ...{ service_fee: fee(fees.service), affiliate_fee: fee(fees.affiliate), fee_asset: book.assetName(sold.asset) },
    ...(gas === undefined ? {} : ofGas(book, gas, prices.native)),
    value_usd: dollars(worthOfSwap(entry)),
    ...priceOf("sold", prices.sold),
    ...priceOf("bought", prices.bought),
    note: isAssumed ? "the transaction does not show the amounts: they are the worst that was signed" : null,
  };
}

function side(book: Book, name: "sold" | "bought", quantity: Quantity): Partial<FlatRecord> {
  return {
    [`${name}_amount`]: exactAmount(quantity),
    [`${name}_asset`]: book.assetName(quantity.asset),
    [`${name}_contract`]: quantity.asset.address,
  };
}

function ofGas(book: Book, gas: Quantity, price: DatedPrice | undefined): Partial<FlatRecord> {
  return {
    ...{ gas_amount: exactAmount(gas), gas_asset: book.assetName(gas.asset) },
    gas_value_usd: dollars(worthOf(gas, price)),
    ...priceOf("gas", price),
  };
}

function priceOf(name: "sold" | "bought" | "gas", price: DatedPrice | undefined): Partial<FlatRecord> {
  if (price === undefined) return {};
  return {
    [`${name}_price_usd`]: exactDollars(price.usd),
    [`${name}_price_source`]: price.source,
    [`${name}_price_time`]: formatInstant(price.atSeconds * 1_000),
  };
}

function dollars(usd: bigint | undefined): string | null {
  return usd === undefined ? null : exactDollars(usd);
}
