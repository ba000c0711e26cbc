import type { SqliteDatabase } from "./database.ts";

const hearers = new WeakMap<SqliteDatabase, (() => void)[]>();

/**
 * Runs synchronous work in one durable transaction of the connection; within one that is open, as a part of it that is
 * taken back alone. The write lock is taken at the start, so that what the work reads is still true when it commits.
 */
export function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  try {
    return db.transaction(work).immediate();
  } catch (error) {
    for (const hear of hearers.get(db) ?? []) hear();
    throw error;
  }
}

/** Calls back whenever something that was written on the connection was taken back. */
export function onTakenBack(db: SqliteDatabase, hear: () => void): void {
  hearers.set(db, [...(hearers.get(db) ?? []), hear]);
}
