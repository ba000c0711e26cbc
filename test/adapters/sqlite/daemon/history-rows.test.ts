import { expect, test } from "vitest";
import { createHistoryReader, type HistoryReader } from "../../../../src/adapters/sqlite/daemon/history-rows.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { HUNDRED_USDC, NOW_MS, runSample, SLOT_MS, USDC, WALLET, WETH } from "../../../support/builders.ts";
import { addRun, addStrategy, type DaemonDatabase, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { hash, swapIn } from "../../../support/reading-samples.ts";

/** Two runs of one strategy and one of another, read on a second connection while the first stays open. */
function begin(): DaemonDatabase & { reader: HistoryReader } {
  const database = openDaemonDatabase();
  const { store, file } = database;
  addStrategy(store);
  addRun(store, runSample({ swaps: [swapIn("confirmed", { mode: "gasless" })] }));
  addRun(store, runSample({ id: "run_2", slotMs: SLOT_MS + 60_000, state: "failed", reason: "expired", detail: "d" }));
  addRun(store, runSample({ id: "run_3", slotMs: SLOT_MS + 30_000, strategyId: "other", state: "skipped" }));
  return { ...database, reader: createHistoryReader(openDatabase({ file, readonly: true })) };
}

test("runs come newest slot first, of one strategy or of all, and no more than asked for", () => {
  const { reader } = begin();
  expect(reader.runs({ limit: 10 }).map(({ id }) => id)).toEqual(["run_2", "run_3", "run_1"]);
  expect(reader.runs({ strategy: "weekly", limit: 10 }).map(({ id }) => id)).toEqual(["run_2", "run_1"]);
  expect(reader.runs({ limit: 1 })).toHaveLength(1);
});

test("a run tells its swaps with amounts as text, and nothing that is not there yet", () => {
  const { reader } = begin();
  const run = reader.run("run_1");
  expect(run).toMatchObject({ strategy: "weekly", slotMs: SLOT_MS, state: "executing", reason: null });
  expect(run?.swaps).toMatchObject([
    {
      ...{ id: "run_1.0.1", state: "confirmed", mode: "gasless", gross: HUNDRED_USDC.toString() },
      ...{ sold: HUNDRED_USDC.toString(), hash: hash("ee"), blockNumber: 101, quoteId: "quote_1", distributions: null },
      sell: { symbol: "USDC", address: USDC.address, decimals: 6 },
      buy: { symbol: "WETH", address: WETH.address, decimals: 18 },
    },
  ]);
  expect(reader.run("run_9")).toBeUndefined();
});

test("a run is found by its swap, and by the instant that somebody asks about", () => {
  const { reader } = begin();
  expect(reader.runOfSwap("run_1.0.1")?.id).toBe("run_1");
  expect(reader.runOfSwap("run_9.0.1")).toBeUndefined();
  const at = (atMs: number): string | undefined => reader.runAt("weekly", atMs)?.id;
  expect([SLOT_MS - 1, SLOT_MS, SLOT_MS + 59_999, SLOT_MS + 60_000].map(at)).toEqual([
    ...[undefined, "run_1", "run_1", "run_2"],
  ]);
});

test("moves and gaps are reported as they were written", () => {
  const { reader, store } = begin();
  const gap = { strategy: "weekly", firstSlotMs: 1, lastSlotMs: 3, count: 3, reason: "missed" };
  store.addGap(gap, 0, 1);
  expect(reader.gaps()).toEqual([{ ...gap, state: null }]);
  expect([0, 1, 9].map((atMs) => reader.gapAt("weekly", atMs)?.count)).toEqual([undefined, 3, 3]);
  expect(reader.gapAt("other", 9)).toBeUndefined();
  expect(reader.transitions(["run_1", "run_3"])).toMatchObject([
    { subject: "run", id: "run_1", from: null, to: "due", atMs: NOW_MS },
    { subject: "run", id: "run_1", from: "due", to: "deciding", atMs: NOW_MS },
    { subject: "run", id: "run_1", from: "deciding", to: "executing", atMs: NOW_MS },
    { subject: "run", id: "run_3", from: null, to: "due" },
    { subject: "run", id: "run_3", from: "due", to: "skipped" },
  ]);
});

test("the status counts runs and swaps by state, and shows only modes that hold something back", () => {
  const { reader, store } = begin();
  expect(reader.strategies()).toMatchObject([{ id: "weekly", kind: "dca", runs: { executing: 1, failed: 1 } }]);
  expect(reader.swapStates()).toEqual({ confirmed: 1 });
  expect([reader.modes(), reader.wallets(), reader.lastEvent()]).toEqual([[], [], undefined]);
  store.setMode({ scope: "global", mode: "paused", setBy: "ops", reason: "holiday", atMs: 5 });
  store.setMode({ scope: "weekly", mode: "active", setBy: "ops", reason: "back", atMs: 6 });
  const usdc = { token: USDC.address, symbol: "USDC", decimals: 6 };
  store.addBaseline({ wallet: WALLET, ...usdc, blockNumber: 1, blockTimeSeconds: 1, balance: 1n });
  store.addDaemonEvent("started", "live", 7);
  expect(reader.modes()).toEqual([{ scope: "global", mode: "paused", setBy: "ops", reason: "holiday", atMs: 5 }]);
  expect([reader.wallets(), reader.lastEvent()]).toEqual([[WALLET], { kind: "started", detail: "live", atMs: 7 }]);
});
