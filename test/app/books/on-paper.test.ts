import { beforeEach, expect, it } from "vitest";
import { createReadModel } from "../../../src/adapters/sqlite/daemon/read-model.ts";
import { openPaperRows } from "../../../src/adapters/sqlite/paper/open-paper-rows.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { ETH, MAIN, OTHER } from "../../support/book-samples.ts";
import { type BooksHome, booksHome } from "./support/books-home.ts";

const LENT = 1_000n * 10n ** 18n;
let life: BooksHome["life"];
let swapd: BooksHome["swapd"];
beforeEach(async () => {
  ({ life, swapd } = await booksHome("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"));
});

/** As the first start of a daemon on paper notes it: what the wallet has, and what it is lent beside it. */
function begin(wallet: string, own: bigint): void {
  const account = toAddress(wallet);
  openPaperRows(life.db).begin(account, [{ token: ETH.address, block: 5, amount: own }]);
  life.db
    .prepare(
      `INSERT OR REPLACE INTO baselines (wallet, token, symbol, decimals, block_number, block_time_seconds, balance)
       VALUES (?, ?, 'ETH', 18, 5, 5, ?)`,
    )
    .run(account, ETH.address, String(own === 0n ? LENT : own));
}

it("what a wallet is lent for gas on paper is not what it held before", async () => {
  begin(MAIN, 0n);
  begin(OTHER, 2n * 10n ** 18n);
  const { baselines } = await createReadModel(life.db).books();
  const coins = baselines.filter(
    ({ token, wallet }) => token.address === ETH.address && [MAIN, OTHER].includes(wallet),
  );
  expect(coins.map(({ wallet, balance }) => [wallet, balance])).toEqual([
    [MAIN, 0n],
    [OTHER, 2n * 10n ** 18n],
  ]);
});

it("gas that was lent on paper is told in one line, and nobody is asked to explain it", async () => {
  const trader = life.db.prepare<[], string>("SELECT wallet FROM swaps WHERE state = 'final'").pluck().get() ?? "";
  begin(trader, 0n);
  const { code, out } = await swapd("lots");
  expect(code).toBe(0);
  expect(out).toMatch(/0\.\d+ ETH was lent on paper to \S+ for gas, at a cost that is not known/);
  expect(out).not.toMatch(/ETH left .* that no row saw come in/);
  expect(out).not.toMatch(/(?<!\d)1000 ETH/);
});
