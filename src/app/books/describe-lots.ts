import type { Asset } from "../../domain/books/entry.ts";
import type { Holding, Realised } from "../../domain/books/lot-sums.ts";
import type { LotMethod, Unrecorded } from "../../domain/books/lots.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { describeAmount, describeDollars, describePrice } from "../../domain/money/for-people.ts";
import { formatInstant, formatTable } from "../terminal.ts";
import type { LotReport } from "./lot-report.ts";

const METHODS: Readonly<Record<LotMethod, string>> = {
  fifo: "the oldest lot of the wallet first (FIFO)",
  lifo: "the newest lot of the wallet first (LIFO)",
  average: "at the average cost of the wallet",
  pool: "at the average cost of all wallets together",
  specific: "the lots that standing orders named before the sale, else the oldest first",
};

/** Lots and results for people. */
export function describeLots(report: LotReport): string {
  const { books, method, holdings, realised } = report;
  const { rows, world, network, walletName } = books;
  const parts = [
    `${network}, ${world}; ${METHODS[method]}; in dollars by the reference prices of each swap. No tax advice.`,
  ];
  if (method === "specific") parts.push(describeOrders(report));
  parts.push(
    holdings.length === 0
      ? "nothing is held"
      : formatTable([
          ["HELD IN", "AMOUNT", "LOTS", "COST", "PRICE", "VALUE", "NOT REALISED"],
          ...holdings.map((held) => heldRow(report, held)),
        ]),
  );
  if (realised.length > 0)
    parts.push(
      formatTable([
        ["LEFT", "ASSET", "AMOUNT", "COST", "BROUGHT", "RESULT", "OF UNKNOWN COST"],
        ...realised.map((sum) => realisedRow(report, sum)),
      ]),
    );
  const notes = notesOf(report, rows.open.length, walletName);
  if (notes.length > 0) parts.push(notes.join("\n"));
  return parts.join("\n\n");
}

function describeOrders({ books }: LotReport): string {
  const { lotOrders } = books.rows;
  if (lotOrders.length === 0)
    return "no standing order is written down: `swapd lots order` does that, for the sales after it";
  return lotOrders
    .map(
      ({ id, wallet, pick, sinceMs, madeBy }) =>
        `order ${id}: ${books.walletName(wallet)} sells ${pick.replace("-", " ")} first, since ${formatInstant(sinceMs)}, by ${madeBy}`,
    )
    .join("\n");
}

function heldRow({ nameOf, books }: LotReport, held: Holding): readonly string[] {
  const { wallet, asset, knownRaw, raw, basis, price, value, unrealised } = held;
  const symbol = nameOf(asset);
  const unknown = raw - knownRaw;
  const cost = knownRaw === 0n ? "not known" : describeDollars(basis);
  return [
    wallet === undefined ? "all wallets" : books.walletName(wallet),
    describeAmount(raw, { ...asset, symbol }),
    String(held.lots),
    unknown > 0n && knownRaw > 0n
      ? `${cost} for ${describeAmount(knownRaw, { ...asset, symbol })}, the rest not known`
      : cost,
    price === undefined ? "-" : `${describePrice(price.usd)} (${formatInstant(price.atSeconds * 1_000)})`,
    value === undefined ? "-" : describeDollars(value),
    unrealised === undefined ? "-" : describeDollars(unrealised),
  ];
}

function realisedRow(
  { nameOf, books }: LotReport,
  { wallet, asset, known, unknownBasis }: Realised,
): readonly string[] {
  const symbol = nameOf(asset);
  const isKnown = known.raw > 0n;
  return [
    books.walletName(wallet),
    symbol,
    isKnown ? describeAmount(known.raw, { ...asset, symbol }) : "-",
    isKnown ? describeDollars(known.basis) : "-",
    isKnown ? describeDollars(known.proceeds) : "-",
    isKnown ? describeDollars(known.result) : "-",
    describeUnknown(unknownBasis, { ...asset, symbol }),
  ];
}

/** What has no price brought something all the same, and no zero dollars. */
export function describeUnknown({ raw, proceeds, unpriced }: Realised["unknownBasis"], asset: Asset): string {
  if (raw === 0n) return "-";
  if (unpriced === raw) return `${describeAmount(raw, asset)} without a price`;
  const rest = unpriced === 0n ? "" : `, ${describeAmount(unpriced, asset)} of it without a price`;
  return `${describeAmount(raw, asset)} for ${describeDollars(proceeds)}${rest}`;
}

function notesOf(
  { books, lots, nameOf, realised }: LotReport,
  open: number,
  walletName: (wallet: Address) => string,
): readonly string[] {
  const unvalued = realised.filter((sum) => sum.unvalued.raw > 0n);
  const isLent = ({ asset }: Unrecorded): boolean => books.world === "paper" && asset.address === NATIVE_TOKEN;
  const unrecorded = lots.unrecorded.filter((one) => !isLent(one));
  return [
    ...lentLines(lots.unrecorded.filter(isLent), nameOf, walletName),
    ...unrecorded
      .slice(0, 10)
      .map(
        ({ wallet, asset, raw, entry }) =>
          `${describeAmount(raw, { ...asset, symbol: nameOf(asset) })} left ${walletName(wallet)} by ${entry} that no row saw come in: give it with --opening; its cost is not known`,
      ),
    ...(unrecorded.length > 10 ? [`and ${unrecorded.length - 10} more such sales`] : []),
    ...unvalued.map(
      ({ asset, wallet, unvalued: { raw, basis } }) =>
        `${describeAmount(raw, { ...asset, symbol: nameOf(asset) })} of ${walletName(wallet)}, at a cost of ${describeDollars(basis)}, left without a price: no result can be told`,
    ),
    ...(open > 0 ? [`${open} swaps are not final yet and left out`] : []),
  ];
}

/** Gas that a wallet on paper had nothing for. */
function lentLines(
  lent: readonly Unrecorded[],
  nameOf: LotReport["nameOf"],
  walletName: (wallet: Address) => string,
): readonly string[] {
  return [...Map.groupBy(lent, ({ wallet }) => wallet)].flatMap(([wallet, same]) => {
    const [first] = same;
    if (first === undefined) return [];
    const raw = same.reduce((sum, one) => sum + one.raw, 0n);
    const amount = describeAmount(raw, { ...first.asset, symbol: nameOf(first.asset) });
    return [`${amount} was lent on paper to ${walletName(wallet)} for gas, at a cost that is not known`];
  });
}
