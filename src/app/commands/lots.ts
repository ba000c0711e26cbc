import type { Asset } from "../../domain/books/entry.ts";
import { holdingsOf, newestPrices, type Realised, realisedOf } from "../../domain/books/lot-sums.ts";
import { keepLots, type LotBook, type LotMethod } from "../../domain/books/lots.ts";
import type { Address } from "../../domain/money/address.ts";
import { exactAmount, exactDollars } from "../books/amounts.ts";
import { nameAssetsFor } from "../books/asset-file.ts";
import { TABLE_WORDS } from "../books/asset-names.ts";
import { describeLots } from "../books/describe-lots.ts";
import type { LotReport } from "../books/lot-report.ts";
import { type BookOptions, readBooks } from "../books/read-books.ts";
import { timeRange } from "../books/time-range.ts";
import { sayMode } from "../mode-line.ts";
import { formatInstant, type Terminal } from "../terminal.ts";

/** What `swapd lots` is asked for. */
interface LotOptions extends BookOptions {
  readonly method: LotMethod;
  /** realised from then on; lots are those of the end all the same */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly names?: string | undefined;
  readonly json?: boolean | undefined;
}

/** `swapd lots`: what is held at what cost, and what became of what was sold, by the rows alone. */
export async function showLots(options: LotOptions, terminal: Terminal): Promise<void> {
  const report = await readLots(options);
  sayMode(report.books.target, options, terminal);
  if (options.json === true) terminal.out(JSON.stringify(lotsJson(report)));
  else terminal.out(describeLots(report));
}

async function readLots(options: LotOptions): Promise<LotReport> {
  const { method } = options;
  const { since, until } = timeRange(options);
  const books = await readBooks(options);
  const entries = books.entries.filter(({ atMs }) => atMs < until);
  const names = nameAssetsFor(books.entries, options.names, TABLE_WORDS);
  const kept = keepLots(entries, { method, orders: books.rows.lotOrders });
  const isAsked = (wallet: Address | undefined): boolean =>
    books.wallet === undefined || wallet === undefined || wallet === books.wallet;
  const lots: LotBook = {
    lots: kept.lots.filter(({ wallet }) => isAsked(wallet)),
    disposals: kept.disposals.filter(({ wallet }) => isAsked(wallet)),
    unrecorded: kept.unrecorded.filter(({ wallet }) => isAsked(wallet)),
  };
  const disposals = lots.disposals.filter(({ atMs }) => atMs >= since);
  return {
    ...{ books, method, lots, disposals },
    holdings: holdingsOf(lots, newestPrices(entries)),
    realised: realisedOf(disposals),
    nameOf: ({ address }) => names.get(address) ?? address,
  };
}

/** As machines read it: amounts and dollars as exact text, null where nobody knows. */
function lotsJson(report: LotReport): Record<string, unknown> {
  const { books, method, lots, holdings, disposals, realised, nameOf } = report;
  const { world, network, rows, walletName } = books;
  const of = ({ wallet, asset }: { readonly wallet: Address | undefined; readonly asset: Asset }) => ({
    wallet: wallet === undefined ? null : walletName(wallet),
    asset: nameOf(asset),
    contract: asset.address,
  });
  const amount = (asset: Asset, raw: bigint): string => exactAmount({ asset, raw });
  return {
    ...{ world, network, method },
    orders: rows.lotOrders.map(({ id, wallet, pick, sinceMs, madeBy }) => ({
      ...{ id, wallet: walletName(wallet), pick, since: formatInstant(sinceMs), madeBy },
    })),
    lots: lots.lots.map((lot) => ({
      ...{ ...of(lot), lot: lot.id, amount: exactAmount(lot), acquired: instant(lot.acquiredMs) },
      costUsd: dollars(lot.basis),
    })),
    holdings: holdings.map((held) => ({
      ...{ ...of(held), lots: held.lots, amount: exactAmount(held) },
      amountOfKnownCost: amount(held.asset, held.knownRaw),
      costUsd: held.knownRaw === 0n ? null : dollars(held.basis),
      price:
        held.price === undefined
          ? null
          : {
              usd: exactDollars(held.price.usd),
              source: held.price.source,
              at: formatInstant(held.price.atSeconds * 1_000),
            },
      ...{ valueUsd: dollars(held.value), unrealisedUsd: dollars(held.unrealised) },
    })),
    realised: realised.map((sum) => realisedJson(sum, of(sum))),
    disposals: disposals.map((part) => ({
      ...{
        ...of(part),
        entry: part.entry,
        why: part.why,
        lot: part.lot,
        amount: exactAmount(part),
        order: part.order ?? null,
      },
      ...{ acquired: instant(part.acquiredMs), disposed: formatInstant(part.atMs) },
      ...{ costUsd: dollars(part.basis), proceedsUsd: dollars(part.proceeds) },
      resultUsd:
        part.basis === undefined || part.proceeds === undefined ? null : exactDollars(part.proceeds - part.basis),
    })),
    unrecorded: lots.unrecorded.map((one) => ({ ...of(one), entry: one.entry, amount: exactAmount(one) })),
    notFinal: rows.open.map(({ swapId }) => swapId),
  };
}

function realisedJson({ asset, known, unknownBasis, unvalued }: Realised, of: object): Record<string, unknown> {
  const amount = (raw: bigint): string => exactAmount({ asset, raw });
  return {
    ...of,
    ...{ amount: amount(known.raw), costUsd: exactDollars(known.basis), proceedsUsd: exactDollars(known.proceeds) },
    resultUsd: exactDollars(known.result),
    ofUnknownCost: {
      amount: amount(unknownBasis.raw),
      proceedsUsd:
        unknownBasis.raw > 0n && unknownBasis.unpriced === unknownBasis.raw
          ? null
          : exactDollars(unknownBasis.proceeds),
      amountWithoutPrice: amount(unknownBasis.unpriced),
    },
    ofUnknownProceeds: { amount: amount(unvalued.raw), costUsd: exactDollars(unvalued.basis) },
  };
}

function dollars(usd: bigint | undefined): string | null {
  return usd === undefined ? null : exactDollars(usd);
}

function instant(atMs: number | undefined): string | null {
  return atMs === undefined ? null : formatInstant(atMs);
}
