import type { Asset } from "../../domain/books/entry.ts";
import type { Holding, Realised } from "../../domain/books/lot-sums.ts";
import type { Address } from "../../domain/money/address.ts";
import { describeAmount, describeDollars } from "../../domain/money/for-people.ts";
import { describeUnknown } from "../books/describe-lots.ts";
import { headed } from "../html/markup.ts";

type Named = Pick<Holding, "wallet" | "asset">;

/** What is held, and what became of what left. */
export interface Held {
  readonly holdings: readonly Holding[];
  readonly realised: readonly Realised[];
  walletName(wallet: Address): string;
  nameOf(asset: Pick<Asset, "address">): string;
}

/** What is held with what its sales came to, and after it what was sold and is held no more. */
export function heldTable(report: Held): string {
  const { holdings, realised } = report;
  const isOfSeveral = walletsOf(report).size > 1;
  // Of several wallets an asset has a row of each.
  const named = (one: Named): readonly string[] => [
    report.nameOf(one.asset),
    ...(isOfSeveral ? [walletOf(report, one)] : []),
  ];
  const results = new Map(realised.map((one) => [placeOf(one), describeResult(one)]));
  const rows = holdings.map((one) => [
    ...named(one),
    describeAmount(one.raw, { ...one.asset, symbol: "" }).trim(),
    one.knownRaw === 0n
      ? "not known"
      : `${describeDollars(one.basis)}${one.knownRaw < one.raw ? " and not known" : ""}`,
    one.value === undefined ? "-" : describeDollars(one.value),
    one.unrealised === undefined ? "-" : describeDollars(one.unrealised),
    results.get(placeOf(one)) ?? "-",
  ]);
  const places = new Set(holdings.map(placeOf));
  const gone = realised
    .filter((one) => !places.has(placeOf(one)))
    .map((one) => [...named(one), "0", "-", "-", "-", describeResult(one)]);
  const heading = ["Asset", ...(isOfSeveral ? ["Wallet"] : []), "Amount", "Cost", "Value", "Not realised", "Realised"];
  return headed(heading, [...rows, ...gone]);
}

/** What left that is in no result of the table: its cost is not known, or what it brought. */
export function unknownLines(report: Held): readonly string[] {
  return report.realised.flatMap((one) => {
    const { unknownBasis, unvalued } = one;
    const asset = { ...one.asset, symbol: report.nameOf(one.asset) };
    const of = walletsOf(report).size > 1 ? ` of ${walletOf(report, one)}` : "";
    return [
      ...(unknownBasis.raw === 0n
        ? []
        : [`At a cost that nobody knows${of} left ${describeUnknown(unknownBasis, asset)}: in no result.`]),
      ...(unvalued.raw === 0n
        ? []
        : [
            `Without a price${of} left ${describeAmount(unvalued.raw, asset)}, at a cost of ${describeDollars(unvalued.basis)}: in no result.`,
          ]),
    ];
  });
}

function describeResult({ known, unknownBasis, unvalued }: Realised): string {
  const isAllKnown = unknownBasis.raw + unvalued.raw === 0n;
  if (known.raw === 0n) return isAllKnown ? "-" : "not known";
  return `${describeDollars(known.result)}${isAllKnown ? "" : " and not known"}`;
}

function placeOf({ wallet, asset }: Named): string {
  return `${wallet} ${asset.address}`;
}

function walletsOf({ holdings, realised }: Held): ReadonlySet<Named["wallet"]> {
  return new Set([...holdings, ...realised].map(({ wallet }) => wallet));
}

function walletOf({ walletName }: Held, { wallet }: Named): string {
  return wallet === undefined ? "all wallets" : walletName(wallet);
}
