import type { Lanes } from "../../ports/lane-row-store.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { migrate, ownMigrations } from "../../storage/migrations.ts";
import { createLaneRows } from "./lane-rows.ts";
import { createLanes } from "./lane-store.ts";

/** Creates or updates the tables of lanes in this database, after copying one that holds rows. */
export function migrateLane(db: SqliteDatabase): void {
  const migrations = ownMigrations(new URL("./lane/", import.meta.url));
  migrate(db, { set: "lane", migrations, backup: true });
}

/** Lanes of the service's relayer and of a deployment, whose databases have no unit of work of their own. */
export function openLanes(db: SqliteDatabase): Lanes {
  migrateLane(db);
  return lanesIn(db);
}

/** The same in a database that has their tables, which stay as they are. */
export function lanesIn(db: SqliteDatabase): Lanes {
  return createLanes(createLaneRows(db));
}
