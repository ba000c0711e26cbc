import { expect, test } from "vitest";
import { describeLots } from "../../../src/app/books/describe-lots.ts";
import type { LotReport } from "../../../src/app/books/lot-report.ts";
import { type Entry, inOrder } from "../../../src/domain/books/entry.ts";
import { holdingsOf, newestPrices, realisedOf } from "../../../src/domain/books/lot-sums.ts";
import { keepLots } from "../../../src/domain/books/lots.ts";
import { ETH, opening, spentGas } from "../../support/book-samples.ts";

/** As `swapd lots` says it. */
function shownOf(entries: readonly Entry[]): string {
  const lots = keepLots(inOrder(entries), { method: "fifo", orders: [] });
  const books = { rows: { open: [], lotOrders: [] }, world: "live", network: "base", walletName: () => "main" };
  return describeLots({
    ...{ books: books as unknown as LotReport["books"], method: "fifo", lots, disposals: lots.disposals },
    ...{ holdings: holdingsOf(lots, newestPrices(entries)), realised: realisedOf(lots.disposals) },
    nameOf: ({ symbol }) => symbol,
  });
}

test("gas of a revocation, which no swap's price values, is not said to have brought nothing", () => {
  const held = opening(0, { held: { asset: ETH, raw: 10n ** 18n } });
  const revoked = spentGas(1, { id: "revoke.1", purpose: "revocation", price: undefined });
  expect(shownOf([held, revoked])).toMatch(/0\.00005 ETH without a price$/m);
  expect(shownOf([held, spentGas(2), revoked])).toMatch(
    /0\.0001 ETH for 0\.12 USD, 0\.00005 ETH of it without a price$/m,
  );
});
