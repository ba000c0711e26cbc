import type { SqliteDatabase } from "../../../storage/database.ts";
import { migrate, ownMigrations } from "../../../storage/migrations.ts";
import { migrateLane } from "../lanes.ts";

const FOLDERS = { daemon: new URL("./", import.meta.url), lane: new URL("../lane/", import.meta.url) };

/** Brings an open database's tables of the daemon to this program's schema, those of its lanes too. */
export function migrateDaemon(db: SqliteDatabase): void {
  migrate(db, { set: "daemon", migrations: ownMigrations(FOLDERS.daemon), backup: true });
  migrateLane(db);
}

/** How far a set of tables is, and how far this program's is. */
export interface SchemaVersion {
  readonly set: string;
  readonly applied: number;
  readonly known: number;
}

/** How far a database's tables are. A release adds migrations and takes none away, so the higher number is newer. */
export function schemaVersions(db: SqliteDatabase): readonly SchemaVersion[] {
  const hasJournal = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get() !== undefined;
  const applied = (set: string): number =>
    db.prepare<[string], number>("SELECT count(*) FROM schema_migrations WHERE set_name = ?").pluck().get(set) ?? 0;
  return Object.entries(FOLDERS).map(([set, folder]) => ({
    set,
    applied: hasJournal ? applied(set) : 0,
    known: ownMigrations(folder).length,
  }));
}

/** Whether a database has every table of this program, the lanes' too: only then does nothing need its whole history. */
export function isMigrated(db: SqliteDatabase): boolean {
  return schemaVersions(db).every(({ applied, known }) => applied === known);
}

/** Whether a daemon has made its tables in an open database: a start that failed may leave a file without any. */
export function hasTables(db: SqliteDatabase): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'runs'").get() !== undefined;
}
