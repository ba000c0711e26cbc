import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildEntries } from "../../../src/app/books/build-entries.ts";
import { readOpeningLots, withOpeningLots } from "../../../src/app/books/opening-lots.ts";
import { untilMs } from "../../../src/app/books/time-range.ts";
import { type Entry, inOrder } from "../../../src/domain/books/entry.ts";
import { holdingsOf } from "../../../src/domain/books/lot-sums.ts";
import { keepLots, type LotMethod } from "../../../src/domain/books/lots.ts";
import type { BookBaseline, BookFill, BookRows } from "../../../src/ports/book-rows.ts";
import { dollarsOf, MAIN, OTHER, priced, USDC, WETH } from "../../support/book-samples.ts";
import { memoryDirectory } from "../../support/temporary-directory.ts";

const ONE = 10n ** 18n;
const seconds = (text: string): number => Date.parse(text) / 1_000;

/** One WETH for 2,500 USDC of `main`, the last trade of 2026. */
const fill: BookFill = {
  ...{ swapId: "run_1.0.1", strategy: "weekly", slotMs: 5_000, mode: "gasless", wallet: MAIN, recipient: MAIN },
  ...{ sell: USDC, buy: WETH, sold: 2_500_000_000n, bought: ONE, swapFee: 0n, affiliateFee: 0n },
  ...{ hash: `0x${"1".repeat(64)}`, blockNumber: 1_000, blockTimeSeconds: seconds("2026-12-30T09:00:00Z") },
  ...{ isAssumed: false, prices: { readAtMs: 9_000, sold: priced(1n), bought: priced(2500n), native: priced(2500n) } },
};
const first: BookBaseline = {
  ...{ wallet: MAIN, token: USDC, blockNumber: 5, blockTimeSeconds: seconds("2026-01-01T00:01:00Z") },
  balance: 2_500_000_000n,
};
/** Of a wallet that the owner added a month after that trade. */
const later: BookBaseline = {
  ...{ wallet: OTHER, token: WETH, blockNumber: 300_000, blockTimeSeconds: seconds("2027-02-01T00:00:00Z") },
  balance: ONE,
};

function entriesOf(fills: readonly BookFill[], baselines: readonly BookBaseline[]): readonly Entry[] {
  const rest = { transactions: [], open: [], lotOrders: [], isPaper: false };
  const rows: BookRows = { createdAtMs: Date.parse("2026-01-01T00:00:00Z"), ...rest, fills, baselines };
  return buildEntries(rows, { nativeSymbol: "ETH", ownWallets: new Set([MAIN, OTHER]) });
}

/** With a file of lots as the owner writes it. */
function withFile(entries: readonly Entry[], lines: string): readonly Entry[] {
  const file = join(memoryDirectory(), "lots.csv");
  writeFileSync(file, `wallet,asset,amount,acquired,cost_usd\n${lines}`);
  const known = { wallets: new Map([["other", OTHER]]), entries, tokens: [], nowMs: Date.parse("2028-01-01") };
  const lots = lines === "" ? [] : readOpeningLots(file, known);
  return inOrder(withOpeningLots(entries, lots));
}

/** WETH that is held by the books, with the part of a known cost. */
function heldOf(entries: readonly Entry[], method: LotMethod = "fifo"): readonly [bigint, bigint] {
  const held = holdingsOf(keepLots(entries, { method, orders: [] }), new Map()).filter(({ asset }) => asset === WETH);
  return [held.reduce((sum, { raw }) => sum + raw, 0n), held.reduce((sum, { knownRaw }) => sum + knownRaw, 0n)];
}

describe("a recipient that becomes a wallet later", () => {
  const bought = { ...fill, recipient: OTHER };

  test.each(["fifo", "lifo", "average", "pool"] as const)("holds what was bought for it once: %s", (method) => {
    expect(heldOf(withFile(entriesOf([bought], [first, later]), ""), method)).toEqual([ONE, ONE]);
  });

  test("holds besides what came from elsewhere, at a cost that nobody knows", () => {
    expect(heldOf(withFile(entriesOf([bought], [first, { ...later, balance: 3n * ONE }]), ""))).toEqual([
      3n * ONE,
      ONE,
    ]);
  });

  test("is not counted below zero where it had handed some of it on", () => {
    expect(heldOf(withFile(entriesOf([bought], [first, { ...later, balance: ONE / 4n }]), ""))).toEqual([ONE, ONE]);
  });

  test("keeps what is bought for it afterwards beside what it held", () => {
    const after = { ...bought, blockNumber: later.blockNumber + 1 };
    expect(heldOf(withFile(entriesOf([after], [first, later]), ""))).toEqual([2n * ONE, ONE]);
  });

  test("has no lots of before swapd for what swapd bought", () => {
    const entries = entriesOf([bought], [first, later]);
    expect(() => withFile(entries, "other,WETH,1,2026-03-01,2000\n")).toThrow(/and it held 0 then that no swap had/);
  });
});

describe("a wallet that is added later", () => {
  test("stands in no export of a year that is over", () => {
    const of2026 = (baselines: readonly BookBaseline[]) =>
      withFile(entriesOf([fill], baselines), "").filter(({ atMs }) => atMs < untilMs("2026-12-31"));
    expect(of2026([first, later])).toEqual(of2026([first]));
    expect(of2026([first])).toHaveLength(2);
  });

  test("holds once what a lot of the day before explains", () => {
    const entries = withFile(entriesOf([fill], [first, later]), "other,WETH,1,2027-01-31,3000\n");
    const lots = keepLots(entries, { method: "fifo", orders: [] }).lots.filter(({ wallet }) => wallet === OTHER);
    expect(lots.map(({ raw, basis }) => [raw, basis])).toEqual([[ONE, dollarsOf(3_000n)]]);
  });
});
