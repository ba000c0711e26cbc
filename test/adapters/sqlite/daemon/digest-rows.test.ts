import { expect, test } from "vitest";
import { readDigest } from "../../../../src/adapters/sqlite/daemon/digest-rows.ts";
import { NOW_MS, runSample, SLOT_MS } from "../../../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase, saveAs } from "../../../support/daemon-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";

const DAY_MS = 86_400_000;

test("a slot that joins a gap of a week ago is one slot of its day, and not all of the gap's", () => {
  const { store } = openDaemonDatabase();
  const told: unknown[] = [];
  for (let day = 0; day <= 15; day += 1) {
    const atMs = NOW_MS + day * DAY_MS;
    if (day % 7 === 0) {
      const gap = { strategy: "weekly", firstSlotMs: atMs, lastSlotMs: atMs, count: 1, reason: "paused" } as const;
      store.addGap(gap, atMs - 7 * DAY_MS, atMs);
    }
    const { gaps, next } = readDigest(store, "day", atMs);
    store.saveDigestMark("day", { ...next, untilMs: atMs });
    if (gaps.length > 0) told.push({ day, gaps });
  }
  expect(store.gapsSince(0)).toMatchObject([{ reason: "paused", count: 3 }]);
  const one = [{ reason: "paused", count: 1 }];
  expect(told).toEqual([0, 7, 14].map((day) => ({ day, gaps: one })));
});

test("a fill after all older runs went is told, and no number of theirs is given again", () => {
  const { db, store } = openDaemonDatabase();
  addStrategy(store);
  for (const minute of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const slotMs = SLOT_MS + minute * 60_000;
    addRun(store, runSample({ id: `run_${minute}`, slotMs, state: "skipped", reason: "not_due", swaps: [] }));
  }
  const { next } = readDigest(store, "day", NOW_MS);
  store.saveDigestMark("day", { ...next, untilMs: NOW_MS });
  const old = { unsignedBeforeMs: NOW_MS * 2, signedBeforeMs: 0, nowMs: NOW_MS, after: undefined };
  expect(store.transaction(() => store.letGo({ ...old, mayGoOn: () => true })).pruned).toBe(8);
  expect(store.newestTransition()).toBe(0);
  const filled = { ...swapIn("confirmed"), id: "run_9.0.1", runId: "run_9" };
  addRun(store, runSample({ id: "run_9", slotMs: SLOT_MS + DAY_MS, state: "executing", swaps: [filled] }));
  expect(readDigest(store, "day", NOW_MS + DAY_MS).fills).toHaveLength(1);
  expect(db.prepare("SELECT min(id) FROM transitions").pluck().get()).toBe(next.lastTransition + 1);
  const again = `INSERT INTO transitions (id, subject, subject_id, to_state, at_ms) VALUES (?, 'run', 'run_9', 'due', 1)`;
  db.exec("DROP TRIGGER transitions_in_a_row");
  expect(() => db.prepare(again).run(next.lastTransition)).toThrow("never given again");
  for (const change of ["UPDATE transitions_gone SET newest = 1", "DELETE FROM transitions_gone"])
    expect(() => db.exec(change)).toThrow("never given again");
});

test("a fill that a reorganisation takes back is told once it is filled again, and what was told is not told anew", () => {
  const { store } = openDaemonDatabase();
  addStrategy(store);
  const swap = { ...swapIn("confirmed"), id: "run_1.0.1", runId: "run_1" };
  const run = addRun(store, runSample({ id: "run_1", state: "filled", swaps: [swap] }));
  const move = (state: "submitted" | "confirmed") =>
    saveAs(store, { ...run, swaps: [{ ...swap, state, ...(state === "submitted" && { fill: undefined }) }] });
  const told = (): number => {
    const { fills, next } = readDigest(store, "day", NOW_MS);
    store.saveDigestMark("day", { ...next, untilMs: NOW_MS });
    return fills.length;
  };
  store.saveDigestMark("day", { untilMs: 1, lastTransition: 0, lastLaneTransition: 0, gaps: {} });
  move("submitted");
  expect(told(), "of what is taken back nothing is known").toBe(0);
  move("confirmed");
  expect(told()).toBe(1);
  move("submitted");
  move("confirmed");
  expect(told(), "it is the same fill").toBe(0);
});
