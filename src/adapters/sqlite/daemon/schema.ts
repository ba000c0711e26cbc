import type { SqliteDatabase } from "../../../storage/database.ts";
import { migrate, readMigrations } from "../../../storage/migrations.ts";

const FOLDERS = { daemon: new URL("./", import.meta.url), lane: new URL("../lane/", import.meta.url) };

/** Brings an open database's own tables of the daemon to this program's schema. */
export function migrateDaemon(db: SqliteDatabase): void {
  migrate(db, { set: "daemon", migrations: readMigrations(FOLDERS.daemon), backup: true });
}

/** Whether a database has every table of this program, the lanes' too: only then does nothing need its whole history. */
export function isMigrated(db: SqliteDatabase): boolean {
  const hasJournal = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get() !== undefined;
  const applied = (set: string): number =>
    db.prepare<[string], number>("SELECT count(*) FROM schema_migrations WHERE set_name = ?").pluck().get(set) ?? 0;
  return hasJournal && Object.entries(FOLDERS).every(([set, folder]) => applied(set) === readMigrations(folder).length);
}

/** Whether a daemon has made its tables in an open database: a start that failed may leave a file without any. */
export function hasTables(db: SqliteDatabase): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'runs'").get() !== undefined;
}
