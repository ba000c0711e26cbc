import type { LaneHalt } from "../../ports/lane-store.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { type StoredHalt, toHalt } from "./lane-codec.ts";
import { migrateLane } from "./lanes.ts";
import { hasTable, prepareStatements } from "./statements.ts";

const COLUMNS = "account, chain_id, reason, transaction_count, at_ms";

/** Accounts that sign nothing until a person releases them, by the tables of any release; none where there are no lanes. */
export function openHaltsIn(db: SqliteDatabase): readonly LaneHalt[] {
  if (!hasTable(prepareStatements(db), "lane_halts")) return [];
  const open = db.prepare<[], StoredHalt>(`SELECT ${COLUMNS} FROM lane_halts WHERE released_at_ms IS NULL ORDER BY id`);
  return open.all().map(toHalt);
}

/** Halts accounts as they are in another database. @returns those that were not halted here */
export function carryHalts(db: SqliteDatabase, halts: readonly LaneHalt[]): readonly LaneHalt[] {
  const own = new Set(openHaltsIn(db).map(({ account, chainId }) => `${account} ${chainId}`));
  const missing = halts.filter(({ account, chainId }) => !own.has(`${account} ${chainId}`));
  if (missing.length === 0) return [];
  if (!hasTable(prepareStatements(db), "lane_halts")) migrateLane(db);
  const insert = db.prepare(
    `INSERT INTO lane_halts (${COLUMNS}) VALUES (@account, @chainId, @reason, @transactionCount, @atMs)`,
  );
  db.transaction(() => {
    for (const halt of missing) insert.run(halt);
  })();
  return missing;
}
