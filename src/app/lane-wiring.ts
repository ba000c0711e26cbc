import { createLaneStore } from "../adapters/sqlite/lane-store.ts";
import type { LaneStore } from "../ports/lane-store.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import { migrate, readMigrations } from "../storage/migrations.ts";

/** Brings the lanes' tables into a database and opens their rows; the daemon and the service's relayer share this code. */
export function openLaneStore(db: SqliteDatabase): LaneStore {
  const migrations = readMigrations(new URL("../adapters/sqlite/lane/", import.meta.url));
  migrate(db, { set: "lane", migrations, backup: true });
  return createLaneStore(db);
}
