import { createLaneRows, migrateLane } from "../adapters/sqlite/lane-rows.ts";
import { createLanes } from "../adapters/sqlite/lane-store.ts";
import type { LaneRowStore, Lanes } from "../ports/lane-row-store.ts";
import type { SqliteDatabase } from "../storage/database.ts";

/** Brings the lanes' tables into a database and opens their rows. */
export function openLaneRows(db: SqliteDatabase): LaneRowStore {
  migrateLane(db);
  return createLaneRows(db);
}

/** The same for the service's relayer and for a deployment, whose databases have no unit of work of their own. */
export function openLanes(db: SqliteDatabase): Lanes {
  return createLanes(openLaneRows(db));
}
