import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAssetFile } from "../../../src/app/books/asset-file.ts";
import { csvLine, readCsv } from "../../../src/app/books/csv-text.ts";
import { readOpeningLots, withOpeningLots } from "../../../src/app/books/opening-lots.ts";
import { sinceMs, untilMs } from "../../../src/app/books/time-range.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import {
  DAY_MS,
  dollarsOf,
  ETH,
  MAIN,
  OTHER,
  opening,
  START_MS,
  swapped,
  USDC,
  WETH,
} from "../../support/book-samples.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const known = {
  wallets: new Map([
    ["main", MAIN],
    ["other", OTHER],
  ]),
  entries: [opening(0), swapped(5)],
  tokens: [ETH, USDC, WETH],
  nowMs: START_MS + 30 * DAY_MS,
};

function fileOf(text: string): string {
  const file = join(temporaryDirectory(), "lots.csv");
  writeFileSync(file, text);
  return file;
}

test("lots come with day and cost; an empty cost is unknown, and never zero", () => {
  const lots = readOpeningLots(
    fileOf(
      `wallet,asset,amount,acquired,cost_usd\nmain,USDC,600,2025-06-01,600.5\n"main",${WETH.address},0.5,,\nother,native,1,2026-01-03,0\n`,
    ),
    known,
  );
  expect(
    lots.map(({ wallet, held, basis, acquiredMs }) => [wallet, held.asset.symbol, held.raw, basis, acquiredMs]),
  ).toEqual([
    [MAIN, "USDC", 600_000_000n, 600_500_000_000_000_000_000n, Date.parse("2025-06-01")],
    [MAIN, "WETH", 5n * 10n ** 17n, undefined, undefined],
    [OTHER, "ETH", 10n ** 18n, 0n, Date.parse("2026-01-03")],
  ]);
});

test("all problems of a file of lots are reported at once, with their lines", () => {
  const bad =
    "wallet,asset,amount,acquired,cost_usd\nmian,USDC,1,,\nmain,USDX,1,,\nmain,USDC,1.2345678,,\nmain,USDC,0,,\nmain,USDC,1,2025-02-30,\nmain,USDC,1,,free\n";
  expect(() => readOpeningLots(fileOf(bad), known)).toThrow(
    /line 2: there is no wallet "mian".*\n.*line 3: no swap and no configured token is "USDX".*\n.*line 4: .*more decimals.*\n.*line 5: .*zero\n.*line 6: "2025-02-30" is no day.*\n.*line 7: the cost "free"/,
  );
  expect(() => readOpeningLots(fileOf("wallet,token\nmain,USDC\n"), known)).toThrow(
    /there is no column "asset"\n.*no column "amount"\n.*no use for a column "token"/,
  );
  expect(() => readOpeningLots("/nowhere/lots.csv", known)).toThrow("/nowhere/lots.csv cannot be read: ENOENT");
});

test("a lot of a mistyped address, of a day to come, or of before all days is refused", () => {
  const typo = `0x${"a".repeat(39)}b`;
  const lines = [`${typo},USDC,1,,`, "main,USDC,1,2026-02-01,", "main,USDC,1,2062-01-01,", "main,USDC,1,1969-12-31,"];
  expect(() => readOpeningLots(fileOf(`wallet,asset,amount,acquired,cost_usd\n${lines.join("\n")}\n`), known)).toThrow(
    new RegExp(
      `line 2: there is no wallet "${typo}"; there are: main, other\n.*line 3: the day "2026-02-01" is still to come.*\n.*line 4: the day "2062-01-01" is still to come.*\n.*line 5: the day "1969-12-31" is not after 1970-01-01`,
    ),
  );
});

test("a lot's wallet is known by its address too, in whatever case, and where no name is left of it", () => {
  const left = `0x${"7e".repeat(20)}` as const;
  const entries = [opening(0), opening(0, { wallet: toAddress(left) })];
  const lotOf = (wallet: string) =>
    readOpeningLots(fileOf(`wallet,asset,amount,acquired,cost_usd\n${wallet},USDC,1,,\n`), { ...known, entries });
  expect(lotOf(OTHER.toUpperCase().replace("0X", "0x"))).toMatchObject([{ wallet: OTHER }]);
  expect(lotOf(left)).toMatchObject([{ wallet: left }]);
});

test("lots explain what was held before, the rest stays unknown, and more than was there is refused", () => {
  const lot = opening(-30, { id: "lot.2", basis: dollarsOf(600n), held: { asset: USDC, raw: 600_000_000n } });
  const entries = withOpeningLots([opening(0), swapped(5)], [lot]);
  expect(entries.map((entry) => (entry.kind === "opening" ? [entry.held.raw, entry.basis] : entry.kind))).toEqual([
    [600_000_000n, dollarsOf(600n)],
    [400_000_000n, undefined],
    "swap",
  ]);
  const later = opening(3, { id: "lot.3", held: { asset: USDC, raw: 5_000_000_000n } });
  expect(withOpeningLots([opening(0)], [later])).toHaveLength(2);
  const more = opening(-1, { id: "lot.4", held: { asset: USDC, raw: 1_000_000_001n } });
  expect(() => withOpeningLots([opening(0)], [more])).toThrow(/are 1000000001, and it held 1000000000 then/);
});

test("what came in on the very day, after the wallet was first seen, is told to need its instant, and has its place by it", () => {
  const seenMs = START_MS + 10 * 3_600_000;
  const seen = opening(0, { atMs: seenMs, held: { asset: USDC, raw: 0n } });
  const lotsOf = (acquired: string) =>
    readOpeningLots(fileOf(`wallet,asset,amount,acquired,cost_usd\nmain,USDC,5000,${acquired},5000\n`), {
      ...known,
      entries: [seen],
    });
  expect(() => withOpeningLots([seen], lotsOf("2026-01-01"))).toThrow(
    /are 5000000000, and it held 0 then.*; a day counts from its first moment, so what came in later on 2026-01-01 needs an instant behind that one/,
  );
  const entries = withOpeningLots([seen], lotsOf("2026-01-01T12:00:00Z"));
  expect(entries.map((entry) => [entry.kind, entry.atMs])).toEqual([["opening", START_MS + 12 * 3_600_000]]);
  const older = opening(-1, { id: "lot.2", held: { asset: USDC, raw: 1n } });
  expect(() => withOpeningLots([seen], [older])).toThrow(/leave out what had left by then$/);
});

test("names are read by contract, twice none, and native is the coin", () => {
  expect(readAssetFile(fileOf(`address,name\n${USDC.address},USDC.base\nnative,ETH\n`))).toEqual(
    new Map([
      [USDC.address, "USDC.base"],
      [ETH.address, "ETH"],
    ]),
  );
  expect(() => readAssetFile(fileOf(`address,name\nUSDC,X\n${USDC.address},A\n${USDC.address},B\n`))).toThrow(
    /line 2: "USDC" is no address.*\n.*line 4: .* has a name already/,
  );
});

test("what was written as CSV is read as it was", () => {
  const cells = ['a "quoted", one', "plain", "", "x;y"];
  const { rows } = readCsv(`one,two,three,four\n${csvLine(cells)}\n`, {
    needed: ["one", "two", "three", "four"],
    optional: [],
  });
  expect([...(rows[0]?.cells.values() ?? [])]).toEqual(cells);
  expect(readCsv('one\n"open\n', { needed: ["one"], optional: [] }).problems).toEqual([
    "line 2: a quote is not closed",
  ]);
});

test("a day is one of UTC, and --until takes it whole", () => {
  expect(sinceMs("2026-01-01")).toBe(START_MS);
  expect(untilMs("2026-01-01")).toBe(START_MS + DAY_MS);
  expect(untilMs("2026-01-01T01:00:00+01:00")).toBe(START_MS);
  for (const text of ["2026-02-30", "yesterday", "2026-01-01T09:00", "2026"])
    expect(() => sinceMs(text)).toThrow("is no day and no instant");
});
