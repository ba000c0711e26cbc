import {
  type Entry,
  type GasEntry,
  type OpeningEntry,
  type Quantity,
  type SwapEntry,
  type TransferEntry,
  worthOf,
  worthOfSwap,
} from "../../domain/books/entry.ts";
import type { Disposal, Lot, Unrecorded } from "../../domain/books/lots.ts";
import type { Address } from "../../domain/money/address.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import { exactAmount, exactDollars, utcDay } from "./amounts.ts";
import type { Book } from "./book.ts";
import { aboutEntry, accountNames, disposalsOf, ledgerAssets, ledgerEntries, titleOf } from "./ledger-parts.ts";

const GAS = "Expenses:Swapd:Gas";
const SENT = "Equity:Swapd:Sent";
const OPENING = "Equity:Swapd:Opening";
const UNRECORDED = "Equity:Swapd:Unrecorded";
const UNVALUED = "Equity:Swapd:Unvalued";
const RESULT = "Income:Swapd:Result";
const UNKNOWN_BASIS = "Income:Swapd:Unknown-Basis";
/** The other side of what moved between wallets of ours, where that side is not written. */
const OTHER_WALLETS = "Equity:Swapd:Other-Wallets";
const ACCOUNTS = [GAS, SENT, OPENING, UNRECORDED, UNVALUED, RESULT, UNKNOWN_BASIS, OTHER_WALLETS];
/** The day of lots that were there before all else. */
const BEFORE_ALL = "1970-01-01";

/**
 * A ledger of beancount with lots, whose own FIFO booking works out the results. What nobody knows the cost of is held
 * at one UNKNOWN a unit: it is never taken for a cost of nothing.
 */
export function beancount(book: Book): readonly string[] {
  const names = accountNames(book, componentOf);
  const accountOf = (wallet: Address): string =>
    book.isWritten(wallet) ? `Assets:Swapd:${names.get(wallet) ?? componentOf(wallet)}` : OTHER_WALLETS;
  const ledger: Ledger = {
    ...{ book, accountOf, disposals: disposalsOf(book.whole) },
    handedOn: new Map(book.entries.flatMap((entry) => (entry.kind === "transfer" ? [[entry.swapId, entry]] : []))),
    amount: (of) => `${exactAmount(of)} ${book.assetName(of.asset)}`,
  };
  const unrecorded = Map.groupBy(book.whole.unrecorded, ({ entry }) => entry);
  return [
    `option "title" "${titleOf(book)}"`,
    'option "operating_currency" "USD"',
    'option "booking_method" "FIFO"',
    'option "inferred_tolerance_multiplier" "1.1"',
    ...ledgerAssets(book).flatMap((asset) => [
      `${BEFORE_ALL} commodity ${book.assetName(asset)}`,
      `  contract: "${asset.address}"`,
    ]),
    ...[...[...names.keys()].map(accountOf), ...ACCOUNTS].map((name) => `${BEFORE_ALL} open ${name}`),
    ...book.before.lots.flatMap((lot) => openingLot(ledger, lot)),
    ...ledgerEntries(book).flatMap((entry) => [
      ...(unrecorded.get(entry.id) ?? []).flatMap((one) => unrecordedLines(ledger, entry, one)),
      ...entryLines(ledger, entry),
    ]),
  ];
}

interface Ledger {
  readonly book: Book;
  accountOf(wallet: Address): string;
  amount(of: Quantity): string;
  disposals(entry: Entry, why: Disposal["why"]): readonly Disposal[];
  /** by the swap that bought it */
  readonly handedOn: ReadonlyMap<string, TransferEntry>;
}

/** A part of an account's name begins with a capital letter or a digit. */
function componentOf(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9-]/g, "-").replace(/^-+/, "");
  return plain === "" ? "Wallet" : `${plain.slice(0, 1).toUpperCase()}${plain.slice(1)}`;
}

/** By its name a lot stays apart from others of its day and price, which beancount would take for one, out of their order. */
function costOf({ id, basis, acquiredMs }: Pick<Lot, "id" | "basis" | "acquiredMs">): string {
  const day = acquiredMs === undefined ? BEFORE_ALL : utcDay(acquiredMs);
  return basis === undefined ? `{1 UNKNOWN, ${day}}` : `{{${exactDollars(basis)} USD, ${day}, "${id}"}}`;
}

function openingLot({ book, accountOf, amount }: Ledger, lot: Lot): readonly string[] {
  const { wallet } = lot;
  if (wallet === undefined || !book.isWritten(wallet)) return [];
  const held = `${amount(lot)} ${costOf(lot)}`;
  return [`${utcDay(book.sinceMs - 1)} * "opening"`, posting(accountOf(wallet), held), posting(OPENING)];
}

function unrecordedLines({ accountOf, amount }: Ledger, { atMs }: Entry, one: Unrecorded): readonly string[] {
  return [
    `${utcDay(atMs)} * "came in without a record"`,
    posting(accountOf(one.wallet), `${amount(one)} ${costOf({ id: "", basis: undefined, acquiredMs: undefined })}`),
    posting(UNRECORDED),
  ];
}

function entryLines(ledger: Ledger, entry: Entry): readonly string[] {
  switch (entry.kind) {
    case "swap":
      return swapLines(ledger, entry);
    case "gas":
      return gasLines(ledger, entry);
    case "transfer":
      return transferLines(ledger, entry);
    case "opening":
      return openingLines(ledger, entry);
  }
}

function swapLines(ledger: Ledger, entry: SwapEntry): readonly string[] {
  const { prices, sold, bought, gas } = entry;
  const worth = worthOfSwap(entry);
  const priced = [
    [prices.sold, sold],
    [prices.bought, bought],
  ] as const;
  return [
    ...priced.flatMap(([price, { asset }]) =>
      price === undefined
        ? []
        : [`${utcDay(entry.atMs)} price ${ledger.book.assetName(asset)} ${exactDollars(price.usd)} USD`],
    ),
    ...head(entry, [`sold-contract: "${sold.asset.address}"`, `bought-contract: "${bought.asset.address}"`]),
    ...arrival(ledger, entry, worth),
    ...departure(ledger, entry, "swap"),
    posting(worth === undefined ? UNVALUED : RESULT),
    ...(gas === undefined
      ? []
      : gasLines(ledger, { ...entry, kind: "gas", purpose: "swap", succeeded: true, gas, price: prices.native })),
  ];
}

/** What was bought, where it went: a wallet of ours keeps it as a lot. */
function arrival(
  { handedOn, accountOf, amount }: Ledger,
  entry: SwapEntry,
  worth: bigint | undefined,
): readonly string[] {
  const { bought, wallet, recipient, id } = entry;
  const transfer = handedOn.get(id);
  if (transfer?.isOwn === false) return worth === undefined ? [] : [posting(SENT, dollars(worth))];
  if (bought.raw === 0n) return [];
  return [
    posting(
      accountOf(transfer === undefined ? wallet : recipient),
      `${amount(bought)} ${costOf({ id, basis: worth, acquiredMs: entry.atMs })}`,
    ),
  ];
}

/** What left: lots of a known cost and others apart, and what the others brought, which is no result. */
function departure({ accountOf, amount, disposals }: Ledger, entry: Entry, why: Disposal["why"]): readonly string[] {
  const parts = disposals(entry, why);
  const known = parts.filter(({ basis }) => basis !== undefined);
  const unknown = parts.filter(({ basis }) => basis === undefined);
  const lines: string[] = [];
  for (const [same, currency] of [
    [known, "USD"],
    [unknown, "UNKNOWN"],
  ] as const) {
    const [first] = same;
    if (first === undefined) continue;
    const raw = same.reduce((sum, part) => sum + part.raw, 0n);
    lines.push(posting(accountOf(first.wallet), `${amount({ asset: first.asset, raw: -raw })} {${currency}}`));
    if (currency === "USD") continue;
    lines.push(posting(UNKNOWN_BASIS, `${rounded(raw, first.asset.decimals)} UNKNOWN`));
    const proceeds = same.reduce((sum, part) => sum + (part.proceeds ?? 0n), 0n);
    if (same.every((part) => part.proceeds !== undefined)) lines.push(posting(UNKNOWN_BASIS, dollars(-proceeds)));
  }
  return lines;
}

function gasLines(ledger: Ledger, entry: GasEntry): readonly string[] {
  const worth = worthOf(entry.gas, entry.price);
  return [
    ...head(entry),
    ...(worth === undefined ? [] : [posting(GAS, dollars(worth))]),
    ...departure(ledger, entry, "gas"),
    posting(worth === undefined ? UNVALUED : RESULT),
  ];
}

/** What a swap handed on stands in the recipient's account with it; where that swap is not written, it comes in. */
function transferLines({ book, accountOf, amount }: Ledger, entry: TransferEntry): readonly string[] {
  const { wallet, recipient, isOwn, moved, worth: basis, swapId: id, atMs: acquiredMs } = entry;
  if (!isOwn || book.isWritten(wallet)) return [];
  const cost = costOf({ id, basis, acquiredMs });
  return [...head(entry), posting(accountOf(recipient), `${amount(moved)} ${cost}`), posting(OTHER_WALLETS)];
}

function openingLines({ accountOf, amount }: Ledger, entry: OpeningEntry): readonly string[] {
  const { held, wallet } = entry;
  return [...head(entry), posting(accountOf(wallet), `${amount(held)} ${costOf(entry)}`), posting(OPENING)];
}

/** Places of dollars and of UNKNOWN: beancount computes with 28 digits, and rounds to the places of the numbers beside. */
const PLACES = 12;

/** To the nearest. */
function rounded(raw: bigint, decimals: number): string {
  const sign = raw < 0n ? "-" : "";
  const scale = 10n ** BigInt(Math.max(0, decimals - PLACES));
  const parts = ((raw < 0n ? -raw : raw) * 10n ** BigInt(Math.max(0, PLACES - decimals)) + scale / 2n) / scale;
  const digits = parts.toString().padStart(PLACES + 1, "0");
  return `${sign}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

/** A sum that is posted, and no cost. */
function dollars(usd: bigint): string {
  return `${rounded(usd, USD_DECIMALS)} USD`;
}

function head(entry: Entry, facts: readonly string[] = []): readonly string[] {
  const { atMs, hash, blockNumber } = entry;
  const all = [
    `entry: "${entry.id}"`,
    ...facts,
    ...(hash === undefined ? [] : [`transaction: "${hash}"`]),
    `block: ${blockNumber}`,
  ];
  return [`${utcDay(atMs)} * "${aboutEntry(entry)}"`, ...all.map((fact) => `  ${fact}`)];
}

function posting(account: string, amount?: string): string {
  return amount === undefined ? `  ${account}` : `  ${account}  ${amount}`;
}
