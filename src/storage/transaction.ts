import type { SqliteDatabase } from "./database.ts";

const hearers = new WeakMap<SqliteDatabase, (() => void)[]>();

/** Calls the work that it is given in a transaction: making such a function costs more than calling it. */
type Wrapper = ReturnType<typeof wrapperFor>;
const wrappers = new WeakMap<SqliteDatabase, Wrapper>();

function wrapperFor(db: SqliteDatabase) {
  return db.transaction((work: () => unknown) => work());
}

function wrapperOf(db: SqliteDatabase): Wrapper {
  const wrapper = wrappers.get(db) ?? wrapperFor(db);
  wrappers.set(db, wrapper);
  return wrapper;
}

/**
 * Runs synchronous work in one durable transaction of the connection; within one that is open, as a part of it that is
 * taken back alone. The write lock is taken at the start, so that what the work reads is still true when it commits.
 */
export function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  try {
    return wrapperOf(db).immediate(work) as T;
  } catch (error) {
    for (const hear of hearers.get(db) ?? []) hear();
    throw error;
  }
}

/**
 * Runs synchronous work that only reads, all of it in one snapshot of the database. SQLite locks the file once for it, and
 * not once for each statement.
 */
export function inSnapshot<T>(db: SqliteDatabase, work: () => T): T {
  return db.inTransaction ? work() : (wrapperOf(db).deferred(work) as T);
}

/** Calls back whenever something that was written on the connection was taken back. */
export function onTakenBack(db: SqliteDatabase, hear: () => void): void {
  hearers.set(db, [...(hearers.get(db) ?? []), hear]);
}
