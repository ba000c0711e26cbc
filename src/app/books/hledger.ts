import type { Entry, GasEntry, OpeningEntry, Quantity, SwapEntry, TransferEntry } from "../../domain/books/entry.ts";
import type { Unrecorded } from "../../domain/books/lots.ts";
import type { Address } from "../../domain/money/address.ts";
import { exactAmount, exactDollars, utcDay } from "./amounts.ts";
import type { Book } from "./book.ts";
import { aboutEntry, accountNames, describeContract, ledgerAssets, ledgerEntries, titleOf } from "./ledger-parts.ts";

const SERVICE_FEES = "expenses:swapd:fees:service";
const AFFILIATE_FEES = "expenses:swapd:fees:affiliate";
const GAS = "expenses:swapd:gas";
const LOST = "expenses:swapd:nothing bought";
const OPENING = "equity:swapd:opening";
const UNRECORDED = "equity:swapd:unrecorded";
const SENT = "equity:swapd:sent";
/** The other side of what moved between wallets of ours, where that side is not written. */
const OTHER_WALLETS = "equity:swapd:other wallets";
const ACCOUNTS = [SERVICE_FEES, AFFILIATE_FEES, GAS, LOST, OPENING, UNRECORDED, SENT, OTHER_WALLETS];

/** A journal of hledger, which ledger reads too: swaps at what was paid, dated prices, gas and fees apart. */
export function hledger(book: Book): readonly string[] {
  const names = accountNames(book, (name) => name.replaceAll(/[^A-Za-z0-9_-]/g, "-") || "wallet");
  const accountOf = (wallet: Address): string =>
    book.isWritten(wallet) ? `assets:swapd:${names.get(wallet) ?? wallet}` : OTHER_WALLETS;
  const journal: Journal = { book, accountOf, amount: (of) => `${exactAmount(of)} ${commodity(book, of)}` };
  const unrecorded = Map.groupBy(book.whole.unrecorded, ({ entry }) => entry);
  return [
    `; ${titleOf(book)}`,
    ...ledgerAssets(book).map((asset) => {
      const sample = asset.decimals === 0 ? "1000." : `1000.${"0".repeat(asset.decimals)}`;
      return `commodity ${sample} ${commodity(book, { asset })}  ; ${describeContract(asset)}`;
    }),
    `commodity 1000.${"0".repeat(18)} USD`,
    ...[...names.keys()].map((wallet) => `account ${accountOf(wallet)}  ; ${wallet}`),
    ...ACCOUNTS.map((name) => `account ${name}`),
    ...opening(journal),
    ...ledgerEntries(book).flatMap((entry) => [
      ...(unrecorded.get(entry.id) ?? []).flatMap((one) => unrecordedLines(journal, entry, one)),
      ...entryLines(journal, entry),
    ]),
  ];
}

interface Journal {
  readonly book: Book;
  accountOf(wallet: Address): string;
  amount(of: Quantity): string;
}

/** A name with anything but letters has to be quoted. */
function commodity(book: Book, { asset }: Pick<Quantity, "asset">): string {
  const name = book.assetName(asset);
  return /^[A-Za-z]+$/.test(name) ? name : `"${name}"`;
}

function opening({ book, accountOf, amount }: Journal): readonly string[] {
  const lots = book.before.lots.filter(({ wallet }) => wallet !== undefined && book.isWritten(wallet));
  if (lots.length === 0) return [];
  const sums = Map.groupBy(lots, ({ wallet, asset }) => `${wallet} ${asset.address}`);
  const postings = [...sums.values()].flatMap((same) => {
    const [first] = same;
    if (first?.wallet === undefined) return [];
    const raw = same.reduce((sum, lot) => sum + lot.raw, 0n);
    const held = { asset: first.asset, raw };
    return [posting(accountOf(first.wallet), amount(held)), posting(OPENING, amount({ ...held, raw: -raw }))];
  });
  return ["", `${utcDay(book.sinceMs - 1)} * opening`, ...postings];
}

function unrecordedLines({ accountOf, amount }: Journal, { atMs }: Entry, { wallet, ...of }: Unrecorded): string[] {
  return [
    "",
    `${utcDay(atMs)} * came in without a record`,
    posting(accountOf(wallet), amount(of)),
    posting(UNRECORDED, amount({ ...of, raw: -of.raw })),
  ];
}

function entryLines(journal: Journal, entry: Entry): readonly string[] {
  switch (entry.kind) {
    case "swap":
      return swapLines(journal, entry);
    case "gas":
      return [...head(entry), ...gasPostings(journal, entry)];
    case "transfer":
      return transferLines(journal, entry);
    case "opening":
      return openingLines(journal, entry);
  }
}

function swapLines(journal: Journal, entry: SwapEntry): readonly string[] {
  const { accountOf, amount } = journal;
  const { sold, bought, fees, gas, wallet, prices } = entry;
  const service = { ...sold, raw: fees.service ?? 0n };
  const affiliate = { ...sold, raw: fees.affiliate ?? 0n };
  const paid = { ...sold, raw: sold.raw - service.raw - affiliate.raw };
  const price = bought.raw === 0n ? undefined : `${amount(bought)} @@ ${amount(paid)}`;
  return [
    ...[priceLine(journal, entry, "sold"), priceLine(journal, entry, "bought")].filter((line) => line !== undefined),
    ...head(entry, [
      `swap:${entry.id}`,
      `sold-contract:${sold.asset.address}`,
      `bought-contract:${bought.asset.address}`,
    ]),
    price === undefined ? posting(LOST, amount(paid)) : posting(accountOf(wallet), price),
    ...(service.raw === 0n ? [] : [posting(SERVICE_FEES, amount(service))]),
    ...(affiliate.raw === 0n ? [] : [posting(AFFILIATE_FEES, amount(affiliate))]),
    posting(accountOf(wallet), amount({ ...sold, raw: -sold.raw })),
    ...(gas === undefined ? [] : gasPostings(journal, { gas, wallet, price: prices.native })),
  ];
}

/** The reference price of the swap's clearing, on its day. */
function priceLine(
  { book }: Journal,
  { prices, sold, bought, atMs }: SwapEntry,
  side: "sold" | "bought",
): string | undefined {
  const [price, of] = side === "sold" ? [prices.sold, sold] : [prices.bought, bought];
  if (price === undefined) return undefined;
  return `P ${utcDay(atMs)} ${commodity(book, of)} ${exactDollars(price.usd)} USD`;
}

function gasPostings(
  { accountOf, amount }: Journal,
  { gas, wallet }: Pick<GasEntry, "gas" | "wallet" | "price">,
): readonly string[] {
  return [posting(GAS, amount(gas)), posting(accountOf(wallet), amount({ ...gas, raw: -gas.raw }))];
}

function transferLines({ accountOf, amount }: Journal, entry: TransferEntry): readonly string[] {
  const { moved, wallet, recipient, isOwn, swapId } = entry;
  return [
    ...head(entry, [`swap:${swapId}`, `to:${recipient}`]),
    posting(isOwn ? accountOf(recipient) : SENT, amount(moved)),
    posting(accountOf(wallet), amount({ ...moved, raw: -moved.raw })),
  ];
}

function openingLines({ accountOf, amount }: Journal, entry: OpeningEntry): readonly string[] {
  const { held, wallet } = entry;
  return [
    ...head(entry),
    posting(accountOf(wallet), amount(held)),
    posting(OPENING, amount({ ...held, raw: -held.raw })),
  ];
}

function head(entry: Entry, tags: readonly string[] = []): readonly string[] {
  const { atMs, hash, blockNumber } = entry;
  const time = new Date(atMs).toISOString().slice(11, 19).replaceAll(":", ".");
  const all = [...tags, `block:${blockNumber}`, `utc:${time}`];
  return ["", `${utcDay(atMs)} *${hash === undefined ? "" : ` (${hash})`} ${aboutEntry(entry)}  ; ${all.join(", ")}`];
}

function posting(account: string, amount: string): string {
  return `    ${account}  ${amount}`;
}
