import { join } from "node:path";
import { expect, test } from "vitest";
import { openForReading, readSnapshot } from "../../src/audit/snapshot.ts";
import { collectStatements, growingParts } from "../support/query-plans.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createJournal } from "./support/journal.ts";

/** What came since a block is found by an index, and nothing else of these tables is read. */
const SINCE = {
  runs_by_slot: "slot_ms>?",
  swaps_by_block: "block_number>?",
  lane_intents_mined: "mined_block_number>?",
  gaps_by_end: "strategy=? AND last_slot_ms>?",
};

function statementsOf(
  start: { block: number; seconds: number } | undefined,
): { sql: string; parts: readonly string[] }[] {
  const file = join(temporaryDirectory(), "audited.db");
  createJournal(file).close();
  const db = openForReading(file);
  const statements = collectStatements(db);
  readSnapshot(db, file, start);
  const judged = [...statements].map((sql) => ({ sql, parts: growingParts(db, sql, SINCE) }));
  db.close();
  return judged;
}

test("an audit of what came since reads no table whole that grows with the history", () => {
  const judged = statementsOf({ block: 1, seconds: 1 });
  expect(judged.length).toBeGreaterThan(15);
  expect(judged.filter(({ parts }) => parts.length > 0)).toEqual([]);
});

test("a whole audit does, and the judge sees it", () => {
  expect(statementsOf(undefined).filter(({ parts }) => parts.length > 0).length).toBeGreaterThan(5);
});
