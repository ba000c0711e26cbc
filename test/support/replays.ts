import { createHistoryReader } from "../../src/adapters/sqlite/daemon/history-rows.ts";
import { replayRun, type StoredRun } from "../../src/domain/run/replay.ts";
import { openDatabase } from "../../src/storage/database.ts";

/** Runs of a daemon's database whose stored steps do not give what is stored of them, and how many were taken again. */
export function replayAll(database: string): { readonly problems: readonly string[]; readonly runs: number } {
  const db = openDatabase({ file: database, readonly: true });
  try {
    const reader = createHistoryReader(db);
    const ids = db.prepare<[], string>("SELECT id FROM runs ORDER BY id").pluck().all();
    const problems = ids.flatMap((id) => {
      const stored = reader.storedRun(id);
      const problem = stored === undefined ? "has no row" : problemOf(stored);
      return problem === undefined ? [] : [`run ${id} taken again: ${problem}`];
    });
    return { problems, runs: ids.length };
  } finally {
    db.close();
  }
}

function problemOf(stored: StoredRun): string | undefined {
  try {
    const { difference } = replayRun(stored);
    if (difference === undefined) return undefined;
    return `${difference.path} is stored as ${String(difference.stored)}, not ${String(difference.replayed)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
