import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DaemonStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import type { RetentionSlice } from "../../../../src/ports/retention-store.ts";
import type { SqliteDatabase } from "../../../../src/storage/database.ts";
import { evidenceSample, NOW_MS, ROUTER, runSample, SLOT_MS, USDC, WALLET } from "../../../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { intentRow } from "../../../support/lane-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";
import { keptTotals, recount } from "../../../support/recount.ts";

const MINUTE_MS = 60_000;
const TURN: RetentionSlice = {
  ...{ unsignedBeforeMs: NOW_MS * 2, signedBeforeMs: 0 },
  ...{ nowMs: NOW_MS, after: undefined, mayGoOn: () => true },
};

type End = "skipped" | "failed";

/** A run of the n-th minute that ended at once, with one swap of a state where one is named. */
function addEnded(
  store: DaemonStore,
  minute: number,
  end: {
    state?: End;
    reason?: string;
    swap?: "skipped" | "denied" | undefined;
    strategyId?: string;
    endedMs?: number;
  } = {},
): string {
  const { state = "skipped", reason = "not_due", swap, strategyId = "weekly" } = end;
  const id = `run_${strategyId}_${minute}`;
  const slotMs = SLOT_MS + minute * MINUTE_MS;
  const swaps = swap === undefined ? [] : [{ ...swapIn(swap), id: `${id}.0.1`, runId: id }];
  addRun(store, runSample({ id, slotMs, strategyId, state, reason, swaps }), { atMs: end.endedMs ?? slotMs + 1 });
  if (swap !== undefined) {
    const run = store.run(id);
    if (run !== undefined) store.writeRecord(run, { kind: "release", swapId: `${id}.0.1` }, slotMs + 1);
  }
  return id;
}

function letGo(store: DaemonStore, turn: Partial<RetentionSlice> = {}): number {
  return store.transaction(() => store.letGo({ ...TURN, ...turn })).pruned;
}

function gapsOf(db: SqliteDatabase): unknown[] {
  return db
    .prepare<[number, number], unknown>(
      `SELECT strategy, (first_slot_ms - ?) / 60000 AS first, (last_slot_ms - ?) / 60000 AS last, count, reason, state,
         skipped_swaps + 10 * denied_swaps AS swaps FROM gaps ORDER BY strategy, first_slot_ms`,
    )
    .raw()
    .all(SLOT_MS, SLOT_MS);
}

/** Rows of a table. */
function count(db: SqliteDatabase, table: string): unknown {
  return db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
}

describe("an old run that signed nothing", () => {
  test("becomes a gap with equal ends right before it, and nothing of it is left", () => {
    const { db, store } = openDaemonDatabase();
    addStrategy(store);
    for (const minute of [0, 1]) addEnded(store, minute, { swap: "skipped" });
    addEnded(store, 2, { state: "failed", reason: "PRICE_MISSING", swap: "denied" });
    addEnded(store, 3);
    store.addStep("run_weekly_3", { event: { kind: "started" }, evidence: evidenceSample() });
    store.barOpenRuns();
    expect(store.run("run_weekly_0")).toBeDefined();
    expect(letGo(store)).toBe(4);
    expect(store.run("run_weekly_0")).toBeUndefined();
    expect(gapsOf(db)).toEqual([
      ["weekly", 0, 1, 2, "not_due", "skipped", 2],
      ["weekly", 2, 2, 1, "PRICE_MISSING", "failed", 10],
      ["weekly", 3, 3, 1, "not_due", "skipped", 0],
    ]);
    for (const table of ["runs", "swaps", "transitions", "ledger", "steps", "checks"])
      expect(count(db, table), table).toBe(0);
    expect(keptTotals(db)).toEqual(recount(db));
    expect(store.barOpenRuns()).toBeUndefined();
  });

  test("joins no gap over a run that stays, over another gap, or of slots that got no run", () => {
    const { db, store } = openDaemonDatabase();
    addEnded(store, 0);
    addRun(store, runSample({ slotMs: SLOT_MS + MINUTE_MS, state: "filled", swaps: [swapIn("final")] }));
    addEnded(store, 2);
    const missed = { strategy: "weekly", firstSlotMs: SLOT_MS + 3 * MINUTE_MS, lastSlotMs: SLOT_MS + 3 * MINUTE_MS };
    store.addGap({ ...missed, count: 1, reason: "not_due" }, 0, NOW_MS);
    addEnded(store, 4);
    addEnded(store, 5, { strategyId: "other" });
    addEnded(store, 6);
    expect(letGo(store)).toBe(5);
    expect(gapsOf(db)).toEqual([
      ["other", 5, 5, 1, "not_due", "skipped", 0],
      ["weekly", 0, 0, 1, "not_due", "skipped", 0],
      ["weekly", 2, 2, 1, "not_due", "skipped", 0],
      ["weekly", 3, 3, 1, "not_due", null, 0],
      ["weekly", 4, 6, 2, "not_due", "skipped", 0],
    ]);
  });

  test("is never joined by slots that get no run later", () => {
    const { db, store } = openDaemonDatabase();
    addEnded(store, 0);
    letGo(store);
    const slot = { firstSlotMs: SLOT_MS + MINUTE_MS, lastSlotMs: SLOT_MS + MINUTE_MS };
    store.addGap({ strategy: "weekly", ...slot, count: 1, reason: "not_due" }, SLOT_MS, NOW_MS);
    expect(gapsOf(db)).toHaveLength(2);
  });

  test("stays where its slot lies within slots that got none: a gap of its own would lie in theirs", () => {
    const { db, store } = openDaemonDatabase();
    const missed = { strategy: "weekly", count: 2, reason: "missed" };
    store.addGap({ ...missed, firstSlotMs: SLOT_MS, lastSlotMs: SLOT_MS + 2 * MINUTE_MS }, 0, NOW_MS);
    addEnded(store, 1);
    addEnded(store, 3);
    expect(letGo(store)).toBe(1);
    expect(gapsOf(db)).toEqual([
      ["weekly", 0, 2, 2, "missed", null, 0],
      ["weekly", 3, 3, 1, "not_due", "skipped", 0],
    ]);
  });

  test("stays while its slot is young, whenever a clock that was behind says that it ended", () => {
    const { store } = openDaemonDatabase();
    addEnded(store, 0, { endedMs: 1 });
    expect(letGo(store, { unsignedBeforeMs: SLOT_MS })).toBe(0);
    expect(letGo(store, { unsignedBeforeMs: SLOT_MS + 1 })).toBe(1);
  });

  test("stays while anything is reserved for it: the database refuses", () => {
    const { db, store } = openDaemonDatabase();
    addRun(store, runSample({ state: "failed", swaps: [swapIn("denied")] }));
    const result = store.transaction(() => store.letGo(TURN));
    expect([result.pruned, result.refused]).toEqual([0, [{ runId: "run_1", why: "a run that is not over stays" }]]);
    expect([count(db, "ledger"), count(db, "leaving")]).toEqual([1, 0]);
  });

  test("stays while it is young, while anything of it is to be done, and where anything may have been signed for it", () => {
    const { db, store, lanes } = openDaemonDatabase();
    addEnded(store, 0);
    expect(letGo(store, { unsignedBeforeMs: SLOT_MS + 1 })).toBe(0);
    store.addEffects("run_weekly_0", [{ effect: { kind: "ReadView" }, notBeforeMs: 0 }], 1);
    const right = { wallet: WALLET, token: USDC.address, spender: ROUTER, untilSeconds: undefined };
    const withRight = addEnded(store, 1, { swap: "skipped" });
    const run = store.run(withRight);
    if (run !== undefined) {
      store.writeRecord(run, { kind: "open-capability", swapId: `${withRight}.0.1`, ...right }, NOW_MS);
      store.writeRecord(run, { kind: "close-capability", swapId: `${withRight}.0.1` }, NOW_MS);
    }
    const withApproval = addEnded(store, 2, { swap: "skipped" });
    lanes.insertIntent(intentRow({ id: `${withApproval}.0.1.approve1`, state: "dropped" }));
    addRun(store, runSample({ slotMs: SLOT_MS + 3 * MINUTE_MS, state: "failed", swaps: [swapIn("expired")] }));
    addRun(store, runSample({ id: "run_2", slotMs: SLOT_MS + 4 * MINUTE_MS, state: "parked" }));
    const { pruned, archived, refused } = store.transaction(() => store.letGo(TURN));
    expect([pruned, archived, refused]).toEqual([0, 0, []]);
    expect([count(db, "runs"), gapsOf(db)]).toEqual([5, []]);
  });
});

describe("the database itself", () => {
  test("refuses to let a run go that is open, or may have signed anything", () => {
    const { db, store } = openDaemonDatabase();
    const leave = (id: string) => () => db.prepare("INSERT INTO leaving (run_id) VALUES (?)").run(id);
    expect(leave("run_9")).toThrow("not over");
    addRun(store, runSample({ id: "run_1", state: "executing" }));
    expect(leave("run_1")).toThrow(/not over|may have signed/);
    addRun(store, runSample({ id: "run_2", slotMs: 2, state: "failed", swaps: [swapOf("run_2", "reverted")] }));
    expect(leave("run_2")).toThrow("may have signed");
    addRun(store, runSample({ id: "run_3", slotMs: 3, state: "skipped", swaps: [swapOf("run_3", "skipped")] }));
    db.exec("DROP TRIGGER transitions_in_a_row");
    db.exec(
      `INSERT INTO transitions (subject, subject_id, from_state, to_state, at_ms) VALUES ('swap', 'run_3.0.1', 'cleared', 'approving', 1)`,
    );
    expect(leave("run_3")).toThrow("may have signed");
  });

  test("forgets no row of a run alone, and no commit may leave the mark that lets it go", () => {
    const { db, store } = openDaemonDatabase();
    const id = addEnded(store, 0, { swap: "denied" });
    store.writeRecord(
      { ...runSample({ id }), swaps: [swapOf(id, "denied")] },
      { kind: "checks", swapId: `${id}.0.1`, checks: [] },
      NOW_MS,
    );
    for (const table of ["runs", "swaps", "transitions", "ledger", "checks"])
      expect(() => db.exec(`DELETE FROM ${table}`), table).toThrow();
    store.addGap({ strategy: "s", firstSlotMs: 1, lastSlotMs: 1, count: 1, reason: "missed" }, 0, 1);
    expect(() => db.exec("DELETE FROM gaps")).toThrow("every slot keeps");
    expect(() => db.prepare("INSERT INTO leaving (run_id) VALUES (?)").run(id)).toThrow("FOREIGN KEY");
    expect(count(db, "leaving")).toBe(0);
    const leaveAndKeep = (): void => {
      store.transaction(() => {
        db.prepare("INSERT INTO leaving (run_id) VALUES (?)").run(id);
        db.exec("DELETE FROM checks");
      });
    };
    expect(leaveAndKeep).toThrow("FOREIGN KEY");
    expect([count(db, "checks"), letGo(store)]).toEqual([1, 1]);
  });
});

function swapOf(runId: string, state: "reverted" | "skipped" | "denied") {
  return { ...swapIn(state), id: `${runId}.0.1`, runId };
}

test("turns that end early go on where they ended, and look at what has to stay once", () => {
  const { db, store } = openDaemonDatabase();
  for (let minute = 0; minute < 80; minute += 1) {
    if (minute % 4 === 0) addEnded(store, minute);
    else addRun(store, ended(minute), { atMs: SLOT_MS + minute * MINUTE_MS });
  }
  let after: RetentionSlice["after"];
  let pruned = 0;
  let turns = 0;
  do {
    const result = store.transaction(() => store.letGo({ ...TURN, after, mayGoOn: () => turns % 2 === 0 }));
    pruned += result.pruned;
    after = result.last;
    turns += 1;
  } while (after !== undefined && turns < 50);
  expect([pruned, count(db, "runs")]).toEqual([20, 60]);
  expect(turns).toBeGreaterThan(1);
});

function ended(minute: number) {
  const id = `run_final_${minute}`;
  const swap = { ...swapIn("final"), id: `${id}.0.1`, runId: id };
  return runSample({ id, slotMs: SLOT_MS + minute * MINUTE_MS, state: "filled", swaps: [swap] });
}

test("whatever ends come in whatever order, each slot keeps exactly one end and every sum stays what it was", () => {
  const slots = fc.array(
    fc.record({
      strategyId: fc.constantFrom("a", "b"),
      state: fc.constantFrom<End>("skipped", "failed"),
      reason: fc.constantFrom("x", "y"),
      swap: fc.constantFrom<"skipped" | "denied" | undefined>(undefined, "skipped", "denied"),
      kind: fc.constantFrom("run", "run", "run", "signed", "gap", "young"),
    }),
    { maxLength: 10 },
  );
  fc.assert(
    fc.property(slots, fc.integer({ min: 1, max: 5 }), (all, each) => {
      const { db, store } = openDaemonDatabase();
      for (const [minute, { kind, ...end }] of all.entries()) {
        const slotMs = SLOT_MS + minute * MINUTE_MS;
        if (kind === "run") addEnded(store, minute, end);
        if (kind === "signed") addRun(store, { ...ended(minute), strategyId: end.strategyId }, { atMs: slotMs });
        if (kind === "gap") {
          const slot = { strategy: end.strategyId, firstSlotMs: slotMs, lastSlotMs: slotMs };
          store.addGap({ ...slot, count: 1, reason: end.reason }, 0, NOW_MS);
        }
        if (kind === "young")
          addRun(store, runSample({ id: `young_${minute}`, slotMs, strategyId: end.strategyId, state: "skipped" }), {
            atMs: NOW_MS * 3,
          });
      }
      const before = keptTotals(db);
      let asked = 0;
      const mayGoOn = (): boolean => {
        asked += 1;
        return asked % each !== 0;
      };
      while (letGo(store, { mayGoOn }) > 0);
      expect(keptTotals(db)).toEqual(before);
      expect(recount(db)).toEqual(before);
      const covered = db
        .prepare<[], { strategy: string; slot: number; first: number; last: number; count: number }>(
          `SELECT strategy, slot_ms AS slot, slot_ms AS first, slot_ms AS last, 1 AS count FROM runs
           UNION ALL SELECT strategy, first_slot_ms, first_slot_ms, last_slot_ms, count FROM gaps`,
        )
        .all();
      const ends = all.map(({ strategyId }, minute) => {
        const slotMs = SLOT_MS + minute * MINUTE_MS;
        return covered.filter(
          ({ strategy, first, last }) => strategy === strategyId && first <= slotMs && slotMs <= last,
        ).length;
      });
      expect(ends).toEqual(all.map(() => 1));
      expect(covered.reduce((sum, row) => sum + row.count, 0)).toBe(all.length);
      db.close();
    }),
    { numRuns: 15 },
  );
});
