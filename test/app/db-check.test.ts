import { join } from "node:path";
import { expect, test } from "vitest";
import { readDatabaseHealth } from "../../src/app/database-health.ts";
import { readFigures } from "../../src/storage/figures.ts";
import { loaded } from "../config/project.ts";
import { runSample } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { swapIn } from "../support/reading-samples.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const DAY_MS = 86_400_000;

test("sizes, tables, free pages, and what retention does next are told", async () => {
  const { file, store, db } = openDaemonDatabase(join(temporaryDirectory(), "sizes.db"));
  addStrategy(store);
  const nowMs = Date.now();
  const slots = [nowMs - 100 * DAY_MS, nowMs - 80 * DAY_MS, nowMs - 10 * DAY_MS];
  for (const [index, slotMs] of slots.entries()) {
    const run = runSample({ id: `old_${index}`, slotMs, state: "skipped", reason: "no_funds", swaps: [] });
    addRun(store, run, { atMs: slotMs });
  }
  addRun(store, runSample({ slotMs: nowMs, state: "executing", swaps: [swapIn("submitted")] }));
  db.exec("CREATE TABLE gone (text TEXT)");
  db.prepare("INSERT INTO gone VALUES (hex(randomblob(200000)))").run();
  db.exec("DROP TABLE gone");
  const health = await readDatabaseHealth(file, loaded({}, { RPC_1: "http://127.0.0.1:1" }));
  expect(health.keeping).toMatchObject({
    unsigned: { count: 3, old: 1, nextEndedAtMs: slots[1] },
    signed: { count: 0, old: 0 },
  });
  expect(health.size?.freeBytes).toBeGreaterThan(300_000);
  expect(health.size?.logBytes).toBeGreaterThan(0);
  const runs = health.size?.tables.find(({ table }) => table === "runs");
  expect(runs).toMatchObject({ rows: 4 });
  const { bytes, freeBytes, tables } = readFigures(db);
  // Each page is a table's, or free; SQLite's own first page and map are the rest.
  expect(tables.reduce((sum, one) => sum + one.bytes, 0) + freeBytes).toBeGreaterThan(bytes * 0.9);
  expect(tables.reduce((sum, one) => sum + one.bytes, 0) + freeBytes).toBeLessThanOrEqual(bytes);
});
