import { writeFileSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import { parseUnits } from "../../../src/domain/money/amount.ts";
import { ACCOUNT } from "../../support/engine-life.ts";
import { type BooksHome, booksHome } from "./support/books-home.ts";

let file: BooksHome["file"];
let life: BooksHome["life"];
let swapd: BooksHome["swapd"];
beforeEach(async () => {
  ({ file, life, swapd } = await booksHome(ACCOUNT));
});

interface Money {
  readonly asset: string;
  readonly contract: string;
  readonly amount: string;
  readonly costUsd: string | null;
}

interface Document {
  readonly lots: readonly Money[];
  readonly holdings: readonly (Money & { readonly unrealisedUsd: string | null })[];
  readonly disposals: readonly (Money & { readonly resultUsd: string | null; readonly order: number | null })[];
  readonly orders: readonly { readonly wallet: string; readonly pick: string }[];
}

const documentOf = async (...words: string[]): Promise<Document> =>
  JSON.parse((await swapd("lots", "--json", ...words)).out) as Document;

it("lots of a life add up to what was bought, and what it sold from before cost nobody knows what", async () => {
  const { lots, disposals, holdings } = await documentOf();
  const bought = life.db.prepare<[], string>("SELECT bought FROM swaps WHERE state = 'final'").pluck().all();
  const contract = life.db
    .prepare<[], string>("SELECT DISTINCT buy_token FROM swaps WHERE state = 'final'")
    .pluck()
    .get();
  const decimals = life.db.prepare<[], number>("SELECT DISTINCT buy_decimals FROM swaps").pluck().get() ?? 0;
  const ours = lots.filter((lot) => lot.contract === contract && lot.costUsd !== null);
  expect(ours.map(({ amount }) => parseUnits(amount, decimals))).toEqual(bought.map(BigInt));
  expect(holdings.find((held) => held.contract === contract)?.unrealisedUsd).toEqual(expect.any(String));
  expect(disposals.length).toBeGreaterThan(bought.length);
  expect(disposals.every(({ costUsd, resultUsd }) => costUsd === null && resultUsd === null)).toBe(true);
  const { out } = await swapd("lots");
  expect(out).toContain("the oldest lot of the wallet first (FIFO)");
  expect(out).toContain("not known");
  expect(out).toContain("No tax advice");
  expect((await swapd("lots", "--help")).code).toBe(0);
});

it("a standing order is written down without a daemon, and stands in the lots of the method that follows it", async () => {
  const ordered = await swapd("lots", "order", "--wallet", "main", "--pick", "lowest-cost");
  expect([ordered.code, ordered.out]).toEqual([
    0,
    expect.stringContaining("no daemon runs, so this command wrote it down"),
  ]);
  expect((await documentOf("--method", "specific")).orders).toMatchObject([{ wallet: "main", pick: "lowest-cost" }]);
  expect((await swapd("lots", "--method", "specific")).out).toMatch(/order 1: main sells lowest cost first, since 20/);
  expect((await swapd("lots", "order", "--wallet", "mian", "--pick", "oldest")).err).toContain(
    'no wallet "mian"; there are: main',
  );
  expect((await swapd("lots", "--method", "best")).code).toBe(2);
});

it("opening lots give what was held a cost, and the results with it", async () => {
  const opening = `${file}.lots.csv`;
  const [first] = (await documentOf()).lots.filter(({ costUsd }) => costUsd === null);
  writeFileSync(
    opening,
    `wallet,asset,amount,acquired,cost_usd\nmain,${first?.contract},${first?.amount},2020-01-01,10\n`,
  );
  const { lots, disposals } = await documentOf("--opening", opening);
  const known = [...lots, ...disposals].filter(
    ({ contract, costUsd }) => contract === first?.contract && costUsd !== null,
  );
  const cost = known.reduce((sum, { costUsd }) => sum + BigInt(parseUnits(costUsd ?? "", 18)), 0n);
  expect([known.length > 0, cost]).toEqual([true, 10n * 10n ** 18n]);
});
