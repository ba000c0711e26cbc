import type { SqliteDatabase } from "../../../storage/database.ts";
import { migrate, ownMigrations } from "../../../storage/migrations.ts";
import { type SchemaVersion, versionsOf } from "../../../storage/schema-versions.ts";
import { migrateLane } from "../lanes.ts";

const FOLDERS = { daemon: new URL("./", import.meta.url), lane: new URL("../lane/", import.meta.url) };

/** Brings an open database's tables of the daemon to this program's schema, those of its lanes too. */
export function migrateDaemon(db: SqliteDatabase): void {
  migrate(db, { set: "daemon", migrations: ownMigrations(FOLDERS.daemon), backup: true });
  migrateLane(db);
}

/** How far the tables of the daemon and of lanes are in a database. */
export function schemaVersions(db: SqliteDatabase): readonly SchemaVersion[] {
  return versionsOf(db, FOLDERS);
}

/** Whether a database has every table of this program, the lanes' too: only then does nothing need its whole history. */
export function isMigrated(db: SqliteDatabase): boolean {
  return schemaVersions(db).every(({ applied, known }) => applied === known);
}

/** Whether a daemon has made its tables in an open database: a start that failed may leave a file without any. */
export function hasTables(db: SqliteDatabase): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'runs'").get() !== undefined;
}
