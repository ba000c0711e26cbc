import { createLaneRows } from "../adapters/sqlite/lane-rows.ts";
import type { LaneRowStore } from "../ports/lane-row-store.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import { migrate, readMigrations } from "../storage/migrations.ts";

/** Brings the lanes' tables into a database and opens their rows; the daemon and the service's relayer share this code. */
export function openLaneRows(db: SqliteDatabase): LaneRowStore {
  const migrations = readMigrations(new URL("../adapters/sqlite/lane/", import.meta.url));
  migrate(db, { set: "lane", migrations, backup: true });
  return createLaneRows(db);
}
