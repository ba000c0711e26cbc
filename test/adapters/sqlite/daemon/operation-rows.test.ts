import { describe, expect, test } from "vitest";
import { dcaSpec, NOW_MS, rebalanceSpec, SLOT_MS, thresholdSpec, USDC, WALLET } from "../../../support/builders.ts";
import { addStrategy, openDaemonDatabase } from "../../../support/daemon-database.ts";

test("a database belongs to the first network that it saw", () => {
  const { store } = openDaemonDatabase();
  expect(store.identity()).toBeUndefined();
  store.saveIdentity({ network: "base", chainId: 8_453, atMs: 1 });
  store.saveIdentity({ network: "mainnet", chainId: 1, atMs: 2 });
  expect(store.identity()).toEqual({ network: "base", chainId: 8_453 });
});

test.each([dcaSpec({ budget: { total: 2n ** 200n } }), rebalanceSpec(), thresholdSpec()])(
  "the last edition of a strategy comes back whole: its open swaps are watched when its file is gone ($kind)",
  (spec) => {
    const { store } = openDaemonDatabase();
    addStrategy(store, spec);
    expect(store.strategy(spec.id)?.spec).toEqual(spec);
  },
);

test("a strategy's row moves on: edition, memory and last slot", () => {
  const { store } = openDaemonDatabase();
  const spec = dcaSpec();
  addStrategy(store, spec);
  const row = { id: spec.id, kind: spec.kind, specHash: "next", spec, memory: '{"a":1}', lastSlotMs: SLOT_MS + 1 };
  store.saveStrategy(row, NOW_MS);
  expect(store.strategy(spec.id)).toEqual(row);
  store.setLastSlot(spec.id, SLOT_MS + 2);
  expect(store.strategy(spec.id)?.lastSlotMs).toBe(SLOT_MS + 2);
  expect(store.strategy("nobody")).toBeUndefined();
});

test("a mode stays with who set it, when and why, until somebody sets another", () => {
  const { store, db } = openDaemonDatabase();
  const halted = { scope: "global", mode: "halted", setBy: "ops", reason: "dry run", atMs: 5 } as const;
  store.setMode(halted);
  expect(store.mode("global")).toEqual(halted);
  expect(store.mode("weekly")).toBeUndefined();
  store.setMode({ ...halted, mode: "active", atMs: 6 });
  store.setMode({ ...halted, scope: "weekly" });
  expect(store.modes().map(({ scope, mode }) => [scope, mode])).toEqual([
    ["global", "active"],
    ["weekly", "halted"],
  ]);
  expect(() => db.exec("UPDATE modes SET mode = 'sleeping'")).toThrow("CHECK");
});

describe("slots without a run", () => {
  const gap = (slotMs: number, reason = "paused", count = 1, strategy = "weekly") => ({
    ...{ strategy, firstSlotMs: slotMs, lastSlotMs: slotMs + count - 1, count, reason },
  });

  test("that follow each other for the same reason share one row", () => {
    const { store, db } = openDaemonDatabase();
    store.addGap(gap(10), 9, 1);
    store.addGap(gap(11), 10, 2);
    store.addGap(gap(12, "paused", 5), 11, 3);
    expect(db.prepare("SELECT * FROM gaps").all()).toMatchObject([
      { strategy: "weekly", first_slot_ms: 10, last_slot_ms: 16, count: 7, reason: "paused", recorded_at_ms: 3 },
    ]);
  });

  test.each([
    ["the reason is another", gap(11, "overlap"), 10],
    ["something lies between them", gap(12), 11],
    ["the strategy is another", gap(11, "paused", 1, "other"), 10],
  ])("have a row of their own when %s", (_name, next, joinsAtMs) => {
    const { store, db } = openDaemonDatabase();
    store.addGap(gap(10), 9, 1);
    store.addGap(next, joinsAtMs, 2);
    expect(db.prepare('SELECT sum(count) AS slots, count(*) AS "rows" FROM gaps').get()).toEqual({ slots: 2, rows: 2 });
  });

  test("are never counted twice: the same first slot breaks the commit", () => {
    const { store } = openDaemonDatabase();
    store.addGap(gap(10), 9, 1);
    expect(() => store.addGap(gap(10), 9, 2)).toThrow("UNIQUE");
  });
});

test("the balances that the audit counts from are noted once", () => {
  const { store, db } = openDaemonDatabase();
  const row = {
    ...{ wallet: WALLET, token: USDC.address, symbol: "USDC", decimals: 6, blockNumber: 7 },
    ...{ blockTimeSeconds: 70, balance: 2n ** 200n },
  };
  expect(store.baselines()).toEqual([]);
  store.addBaseline(row);
  store.addBaseline({ ...row, blockNumber: 8, blockTimeSeconds: 80, balance: 0n });
  expect(store.baselines()).toEqual([{ wallet: WALLET, token: USDC.address }]);
  expect(db.prepare("SELECT block_number, block_time_seconds, balance FROM baselines").all()).toEqual([
    { block_number: 7, block_time_seconds: 70, balance: (2n ** 200n).toString() },
  ]);
});

test("a request of an operator is open until it is answered, and its answer stays", () => {
  const { store } = openDaemonDatabase();
  const ask = { command: "mode", arguments: { mode: "halted", reason: "it's late" }, madeBy: "ops", madeAtMs: 5 };
  const [first, second] = [store.addRequest(ask), store.addRequest({ ...ask, command: "run" })];
  expect(store.openRequests()).toEqual([
    { id: first, ...ask },
    { id: second, ...ask, command: "run" },
  ]);
  expect(store.answerOf(first)).toBeUndefined();
  store.answerRequest(first, "global is halted", 6);
  expect(store.openRequests().map(({ id }) => id)).toEqual([second]);
  expect(store.answerOf(first)).toBe("global is halted");
});

test("events of the daemon's own life are kept in their order", () => {
  const { store, db } = openDaemonDatabase();
  store.addDaemonEvent("started", "live", 1);
  store.addDaemonEvent("stopped", "by request", 2);
  expect(db.prepare("SELECT kind, detail, at_ms FROM daemon_events ORDER BY id").all()).toEqual([
    { kind: "started", detail: "live", at_ms: 1 },
    { kind: "stopped", detail: "by request", at_ms: 2 },
  ]);
});
