import { writeFileSync } from "node:fs";
import { holdingsOf, newestPrices, realisedOf } from "../../domain/books/lot-sums.ts";
import { keepLots } from "../../domain/books/lots.ts";
import type { Address } from "../../domain/money/address.ts";
import { nameAssetsFor } from "../books/asset-file.ts";
import { TABLE_WORDS } from "../books/asset-names.ts";
import { isEntryWritten } from "../books/book.ts";
import { type BookOptions, readBooks } from "../books/read-books.ts";
import { timeRange } from "../books/time-range.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { reportPage } from "../report/report-page.ts";
import { followValue } from "../report/value-course.ts";
import { nameTarget } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** What `swapd report` is asked for. */
interface ReportOptions extends BookOptions {
  readonly html: string;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly names?: string | undefined;
}

/** `swapd report`: one page with plots, from the rows alone. */
export async function report(options: ReportOptions, terminal: Terminal): Promise<void> {
  const { html } = options;
  const { since, until } = timeRange(options);
  const books = await readBooks(options);
  const upTo = books.entries.filter(({ atMs }) => atMs < until);
  const isCounted = (wallet: Address): boolean =>
    books.wallet === undefined ? [...books.wallets.values()].includes(wallet) : wallet === books.wallet;
  const entries = upTo.filter((entry) => entry.atMs >= since && isEntryWritten({ isWritten: isCounted }, entry));
  const lots = keepLots(upTo, { method: "fifo", orders: [] });
  const own = { ...lots, lots: lots.lots.filter(({ wallet }) => wallet !== undefined && isCounted(wallet)) };
  const names = nameAssetsFor(books.entries, options.names, TABLE_WORDS);
  const page = reportPage({
    ...{ world: books.world, network: books.network, wallet: options.wallet, entries },
    course: followValue(upTo, { sinceMs: since, isCounted }),
    holdings: holdingsOf(own, newestPrices(upTo)),
    realised: realisedOf(lots.disposals.filter(({ wallet, atMs }) => isCounted(wallet) && atMs >= since)),
    notFinal: books.rows.open.length,
    walletName: books.walletName,
    nameOf: ({ address }) => names.get(address) ?? address,
  });
  try {
    writeFileSync(html, page);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new CommandFailure(EXIT.no, `${html} cannot be written: ${String(error.code)}`);
  }
  const swaps = entries.filter(({ kind }) => kind === "swap").length;
  terminal.out(`${html}: ${swaps} swaps, ${nameTarget(books.target)}`);
}
