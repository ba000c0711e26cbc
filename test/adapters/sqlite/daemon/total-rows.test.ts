import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunRecord } from "../../../../src/domain/run/records.ts";
import { SWAP_STATES } from "../../../../src/domain/run/states.ts";
import { readMigrations } from "../../../../src/storage/migrations.ts";
import { NOW_MS, POOL, runSample, swapSample, USDC, WALLET, WETH } from "../../../support/builders.ts";
import { addSwap, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { dropTriggers } from "../../../support/query-plans.ts";
import { swapIn } from "../../../support/reading-samples.ts";
import { keptTotals, recount } from "../../../support/recount.ts";
import { memoryDirectory } from "../../../support/temporary-directory.ts";

const HOUR_MS = 3_600_000;
const DAEMON_MIGRATIONS = new URL("../../../../src/adapters/sqlite/daemon/", import.meta.url);

const move = fc.record({
  swap: fc.nat(4),
  state: fc.constantFrom(...SWAP_STATES),
  recipient: fc.constantFrom(WALLET, POOL),
  record: fc.constantFrom("value", "spend", "unspend", "release"),
  amount: fc.bigInt(0n, 2n ** 200n),
  ageHours: fc.integer({ min: 0, max: 40 }),
});

test("whatever is written, in whatever order: the totals are what the rows add up to, and so is what was sold since", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 25 }), fc.integer({ min: 0, max: 45 * HOUR_MS }), (moves, ageMs) => {
      const { db, store } = openDaemonDatabase(join(memoryDirectory(), "daemon.db"));
      dropTriggers(db);
      const known = new Set<number>();
      for (const { swap: number, state, recipient, record, amount, ageHours } of moves) {
        const id = `s${number}`;
        if (!known.has(number)) {
          addSwap(store, swapSample({ id, gross: amount, recipient }), { strategyId: `of-${number % 2}` });
        }
        known.add(number);
        const run = store.run(`run_${id}`) ?? runSample();
        const fill = swapIn("final").fill;
        const swaps = [{ ...swapIn(state, { id, runId: run.id }), recipient: run.swaps[0]?.recipient ?? recipient }];
        store.saveRun({ ...run, state: "executing", swaps: swaps.map((one) => ({ ...one, fill })) }, [], NOW_MS);
        const money = { kind: record, swapId: id, amount, usd: amount } as RunRecord;
        store.writeRecord({ ...run, swaps: [swapSample({ id })] }, money, NOW_MS - ageHours * HOUR_MS);
      }
      const sinceMs = NOW_MS - ageMs;
      expect(store.soldUsdSince(sinceMs, "s1")).toBe(
        db
          .prepare<[number], string>(
            `SELECT usd FROM ledger WHERE (state = 'spent' AND settled_at_ms >= ? OR state = 'reserved')
               AND swap_id <> 's1'`,
          )
          .pluck()
          .all(sinceMs)
          .reduce((sum, usd) => sum + BigInt(usd), 0n),
      );
      const quarterMs = sinceMs - (sinceMs % 900_000);
      const rows = db
        .prepare<[number], { amount: string; usd: string }>(
          `SELECT amount, usd FROM ledger WHERE strategy = 'of-1' AND swap_id <> 's1'
             AND (state = 'spent' AND settled_at_ms >= ? OR state = 'reserved')`,
        )
        .all(quarterMs);
      const bySince = store.soldBySince("of-1", sinceMs, "s1");
      expect(bySince.usd).toBe(rows.reduce((sum, { usd }) => sum + BigInt(usd), 0n));
      expect(bySince.sold.get(USDC.address) ?? 0n).toBe(rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n));
      expect(store.soldBySince("of-1", 0).sold.get(USDC.address) ?? 0n).toBe(
        store.soldBy("of-1").get(USDC.address) ?? 0n,
      );
      expect(keptTotals(db)).toEqual(recount(db));
      db.close();
    }),
    { numRuns: 30 },
  );
});

test("sales of a time to come that count anew leave that time, and stand in the totals of the new one", () => {
  const { db, store } = openDaemonDatabase();
  const AHEAD_MS = NOW_MS + 3_650 * 24 * HOUR_MS;
  const sell = (id: string, atMs: number): void => {
    addSwap(store, swapSample({ id, gross: 5n }));
    const run = { ...runSample(), swaps: [swapSample({ id })] };
    store.writeRecord(run, { kind: "value", swapId: id, usd: 100n }, NOW_MS);
    store.writeRecord(run, { kind: "spend", swapId: id, amount: 5n }, atMs);
  };
  sell("now", NOW_MS);
  sell("soon", NOW_MS + 1_000);
  sell("ahead", AHEAD_MS);
  sell("further", AHEAD_MS + 48 * HOUR_MS);
  addSwap(store, swapSample({ id: "reserved", gross: 5n }));
  const times = { afterMs: NOW_MS + 1_000, atMs: NOW_MS + 1_000 };
  expect(store.settleAnew(times)).toEqual({ count: 2, latestMs: AHEAD_MS + 48 * HOUR_MS });
  expect([store.soldUsdSince(NOW_MS + 1_000, ""), store.soldUsdSince(NOW_MS + 1_001, "")]).toEqual([300n, 0n]);
  expect(store.soldUsdSince(NOW_MS, "")).toBe(400n);
  expect(keptTotals(db)).toEqual(recount(db));
  expect(store.settleAnew(times)).toEqual({ count: 0, latestMs: 0 });
});

test("a database of before the totals gets them from its rows, exactly", () => {
  const { db, store } = openDaemonDatabase();
  for (const [index, state] of (["confirmed", "final", "denied", "signed"] as const).entries()) {
    addSwap(store, swapIn(state, { id: `s${index}`, gross: 2n ** 200n + BigInt(index) }), {
      strategyId: `of-${index}`,
    });
    store.writeRecord(
      runSample({ swaps: [swapSample({ id: `s${index}` })] }),
      { kind: "value", swapId: `s${index}`, usd: 2n ** 90n },
      NOW_MS,
    );
  }
  const before = keptTotals(db);
  expect(before).toEqual(recount(db));
  expect(Object.keys(before)).toEqual(expect.arrayContaining([`paid ${WALLET} ${USDC.address} `]));
  const migrations = readMigrations(DAEMON_MIGRATIONS);
  db.exec("DROP TABLE totals; DROP TABLE sold_usd_hours; DROP TABLE sold_usd_days; DROP TABLE sold_by_time");
  for (const index of [
    "ledger_spent_by_time",
    "ledger_reserved_by_strategy",
    "swaps_busy",
    "swaps_by_hash",
    "runs_failed",
    "requests_open",
    "gaps_by_end",
    "gaps_by_slot",
  ]) {
    db.exec(`DROP INDEX ${index}`);
  }
  db.exec("CREATE INDEX swaps_by_token ON swaps (wallet); CREATE INDEX swaps_by_run ON swaps (run_id)");
  db.exec("CREATE INDEX ledger_by_time ON ledger (reserved_at_ms)");
  for (const { name, sql } of migrations) {
    if (["running-totals", "sold-by-day", "sold-when-seen", "budgets"].includes(name)) db.exec(sql);
  }
  expect(keptTotals(db)).toEqual(before);
  expect(store.hasBought(WALLET, WETH.address)).toBe(true);
  expect(store.soldBy("of-3").get(USDC.address)).toBe(2n ** 200n + 3n);
});
