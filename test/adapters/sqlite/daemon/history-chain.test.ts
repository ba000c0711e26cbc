import { describe, expect, test } from "vitest";
import { checkHistory, readHead } from "../../../../src/adapters/sqlite/daemon/history-chain.ts";
import { prepareStatements } from "../../../../src/adapters/sqlite/statements.ts";
import { runSample, SLOT_MS } from "../../../support/builders.ts";
import { addRun, type DaemonDatabase, openDaemonDatabase, settle } from "../../../support/daemon-database.ts";
import { letAllGo } from "../../../support/old-runs.ts";
import { dropTriggers } from "../../../support/query-plans.ts";
import { swapIn } from "../../../support/reading-samples.ts";

const DAY_MS = 86_400_000;
const FAR_MS = 5_000_000_000_000;
const ALL_IDLE = { sinceMs: FAR_MS + 1, atLeastOneSinceMs: FAR_MS + 1 };

function addSigned({ store }: DaemonDatabase, minute: number): void {
  const id = `run_${minute}`;
  const swap = { ...swapIn("final", { terms: undefined }), id: `${id}.0.1`, runId: id };
  const run = runSample({ id, slotMs: SLOT_MS + minute * 60_000, state: "filled", swaps: [swap] });
  addRun(store, run, { atMs: SLOT_MS });
  settle(store, run, SLOT_MS);
}

function addGap({ store }: DaemonDatabase, at: number, atMs = at): void {
  store.addGap({ strategy: "s", firstSlotMs: at, lastSlotMs: at, count: 1, reason: `r${at}` }, -1, atMs);
}

/** Links: three archived runs, two gaps closed together, one archived run. */
function begin(): DaemonDatabase & { problems(): readonly string[] } {
  const daemon = openDaemonDatabase();
  for (const minute of [1, 2, 3]) addSigned(daemon, minute);
  letAllGo(daemon.store);
  for (const at of [1, 2]) addGap(daemon, at);
  daemon.store.closeGaps(ALL_IDLE);
  addSigned(daemon, 4);
  letAllGo(daemon.store);
  return { ...daemon, problems: () => checkHistory(prepareStatements(daemon.db)) };
}

describe("gaps are closed", () => {
  test("a day's worth at once, when nothing was joined to them for long, and grow no more", () => {
    const daemon = openDaemonDatabase();
    const { db, store } = daemon;
    for (const day of [0, 1, 2]) addGap(daemon, day + 1, day * DAY_MS + 1);
    const idle = (days: number) => ({ sinceMs: days * DAY_MS, atLeastOneSinceMs: (days - 1) * DAY_MS });
    expect([store.closeGaps(idle(0)).closed, store.closeGaps(idle(1)).closed]).toEqual([0, 0]);
    expect(store.closeGaps(idle(2)).closed).toBe(2);
    expect(store.closeGaps(idle(2)).closed).toBe(0);
    const closed = () => db.prepare("SELECT closed FROM gaps ORDER BY id").pluck().all();
    expect(closed()).toEqual([1, 1, null]);
    store.addGap({ strategy: "s", firstSlotMs: 9, lastSlotMs: 9, count: 1, reason: "r2" }, 2, 1);
    store.addGap({ strategy: "s", firstSlotMs: 10, lastSlotMs: 10, count: 1, reason: "r3" }, 3, 1);
    expect(db.prepare("SELECT first_slot_ms, last_slot_ms FROM gaps ORDER BY id").raw().all()).toEqual([
      ...[
        [1, 1],
        [2, 2],
        [3, 10],
        [9, 9],
      ],
    ]);
  });

  test("and runs that become gaps later are not joined to them", () => {
    const { db, store } = openDaemonDatabase();
    for (const minute of [1, 2]) {
      const slotMs = SLOT_MS + minute * 60_000;
      addRun(store, runSample({ id: `run_${minute}`, slotMs, state: "skipped", reason: "x" }), { atMs: slotMs });
      letAllGo(store);
      store.closeGaps(ALL_IDLE);
    }
    expect(db.prepare("SELECT count, closed FROM gaps ORDER BY id").raw().all()).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  test("some at a time: thousands are several links", () => {
    const daemon = openDaemonDatabase();
    daemon.store.transaction(() => {
      for (let at = 1; at <= 1_500; at += 1) addGap(daemon, at);
    });
    expect([1, 2, 3].map(() => daemon.store.closeGaps(ALL_IDLE).closed)).toEqual([1_000, 500, 0]);
    const sql = prepareStatements(daemon.db);
    expect([checkHistory(sql), readHead(sql)?.links]).toEqual([[], 2]);
  });
});

test("a history that nobody touched holds, and says how long it is", () => {
  const { db, problems } = begin();
  expect(problems()).toEqual([]);
  expect(readHead(prepareStatements(db))).toEqual({ links: 5, head: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(readHead(prepareStatements(openDaemonDatabase().db))?.links).toBe(0);
});

describe("it is noticed that somebody", () => {
  test.each([
    ["deleted a closed gap", "DELETE FROM gaps WHERE id = 1", ["link 4"]],
    ["changed a closed gap", "UPDATE gaps SET count = 2 WHERE id = 2", ["link 4"]],
    ["moved a gap out of what was closed", "UPDATE gaps SET closed = NULL WHERE id = 2", ["link 4"]],
    ["changed an archive", "UPDATE archives SET body = x'00' WHERE seq = 2", ["link 2"]],
    ["changed an archived run", "UPDATE runs SET reason = 'x' WHERE archive = 3", ["link 3"]],
    ["changed an archived swap", "UPDATE swaps SET sold = '1' WHERE run_id = 'run_1'", ["link 1"]],
    ["deleted an archived swap", "DELETE FROM swaps WHERE run_id = 'run_1'", ["link 1"]],
    ["took an archive from its run", "UPDATE runs SET archive = NULL WHERE archive = 5", ["link 5"]],
    ["deleted an archive", "DELETE FROM archives WHERE seq = 2", ["link 2"]],
    ["deleted the last archive", "DELETE FROM archives WHERE seq = 5", ["link 5"]],
    ["deleted the link of gaps", "DELETE FROM closed_gaps", ["link 4"]],
    [
      "cut the history off",
      "DELETE FROM archives WHERE seq > 2; DELETE FROM closed_gaps",
      ["link 3", "link 4", "link 5"],
    ],
    ["wrote another hash", "UPDATE archives SET hash = zeroblob(32) WHERE seq = 2", ["link 2", "link 3"]],
    ["wrote another last hash", "UPDATE archives SET hash = zeroblob(32) WHERE seq = 5", ["link 5", "the last link"]],
    ["cut the head back", "UPDATE history_head SET seq = 4", ["the last link"]],
    ["exchanged the head", "UPDATE history_head SET hash = zeroblob(32)", ["the last link"]],
  ])("%s", (_what, sql, reported) => {
    const { db, problems } = begin();
    db.pragma("foreign_keys = OFF");
    dropTriggers(db);
    db.exec(sql);
    expect(problems().map((problem) => reported.find((start) => problem.startsWith(start)))).toEqual(reported);
  });

  test("threw the head away", () => {
    const { db, problems } = begin();
    dropTriggers(db);
    db.exec("DELETE FROM history_head");
    expect(problems()).toEqual([expect.stringContaining("the head of the history is missing")]);
  });
});

test("gaps that cannot be linked to what is there stay open, and that is said", () => {
  const daemon = begin();
  dropTriggers(daemon.db);
  addGap(daemon, 9);
  for (const sql of ["UPDATE history_head SET seq = 3", "DELETE FROM history_head"]) {
    daemon.db.exec(sql);
    const { closed, refused } = daemon.store.closeGaps(ALL_IDLE);
    expect([closed, refused]).toEqual([0, expect.stringMatching(/UNIQUE|is missing/)]);
  }
  expect(daemon.db.prepare("SELECT count(*) FROM gaps WHERE closed IS NULL").pluck().get()).toBe(1);
});

test("the database itself refuses to change or forget a link, and one that does not follow the last one", () => {
  const { db } = begin();
  for (const sql of [
    ...[
      "DELETE FROM gaps",
      "UPDATE gaps SET count = 2",
      "DELETE FROM closed_gaps",
      "UPDATE closed_gaps SET hash = x'00'",
    ],
    ...["DELETE FROM history_head", "UPDATE history_head SET seq = 6", "UPDATE history_head SET seq = 4"],
    ...[
      "INSERT INTO archives (seq, body, hash) VALUES (7, x'00', x'00')",
      "INSERT INTO archives (body) VALUES (x'00')",
    ],
    "INSERT INTO closed_gaps (seq, hash) VALUES (7, x'00')",
  ])
    expect(() => db.exec(sql), sql).toThrow(/never changes|keeps its recorded end|follow one another/);
});
