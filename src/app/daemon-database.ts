import { openDatabase, type SqliteDatabase } from "../storage/database.ts";
import { migrate, readMigrations } from "../storage/migrations.ts";

/** The lock that one daemon holds on a database. */
export function lockFileOf(database: string): string {
  return `${database}.lock.db`;
}

/** Opens the daemon's database and brings its own tables to this program's schema. */
export function openDaemonDatabase(file: string): SqliteDatabase {
  const db = openDatabase({ file });
  migrateDaemonDatabase(db);
  return db;
}

/** Brings an open database's own tables of the daemon to this program's schema. */
export function migrateDaemonDatabase(db: SqliteDatabase): void {
  const migrations = readMigrations(new URL("../adapters/sqlite/daemon/", import.meta.url));
  migrate(db, { set: "daemon", migrations, backup: true });
}
