import type BetterSqlite3 from "better-sqlite3";
import { openDaemonDatabase } from "../../../src/app/daemon-database.ts";
import type { SqliteDatabase } from "../../../src/storage/database.ts";

type Statement = BetterSqlite3.Statement<unknown[]>;

/** What one life has of the connection: it is closed for that life alone. */
export interface Lent {
  readonly db: SqliteDatabase;
  /** From now on it writes nothing. */
  bar(): void;
  close(): void;
}

/** The daemon's connection of one world. */
export interface Connection {
  /** Lends it to a life that begins. */
  lend(): Lent;
}

/** as many pages as SQLite allows */
const MOST_PAGES = 1_073_741_823;

/**
 * Opens the database as the daemon does, for a process that has it alone. The lives of a world and who judges them share
 * the connection: without locks and shared memory a row is read in a fifth of the time, and a commit takes half of it.
 */
export function openAlone(file: string): SqliteDatabase {
  const db = openDaemonDatabase(file);
  db.pragma("locking_mode = EXCLUSIVE");
  return db;
}

/** Lets a life's database have so many pages and no more; undefined: as many as it wants. */
export function limitPages(db: SqliteDatabase, most: number | undefined): void {
  const used = db.pragma("page_count", { simple: true }) as number;
  db.pragma(`max_page_count = ${most === undefined ? MOST_PAGES : Math.max(used, most)}`);
}

/** Does what somebody else writes, whose disk is not full. */
export function beyondLimit(db: SqliteDatabase, write: () => void): void {
  const most = db.pragma("max_page_count", { simple: true }) as number;
  limitPages(db, undefined);
  write();
  limitPages(db, most);
}

/**
 * Lets the lives of a world use one connection after each other: to open the file and to prepare the statements took a
 * third of a simulation's time. A life that is over can use it no more, and what a life has set is put back for the next.
 * @param opened the connection that is open now
 * @param wrote hears of everything that may have written, once it has
 */
export function createConnection(opened: () => SqliteDatabase, wrote: () => void): Connection {
  let db: SqliteDatabase | undefined;
  let prepared = new Map<string, Statement[]>();
  return {
    lend: () => {
      if (db !== opened()) prepared = new Map();
      db = opened();
      if (db.inTransaction) throw new Error("a dead process left a transaction open");
      limitPages(db, undefined);
      return lend(db, prepared, wrote);
    },
  };
}

function lend(db: SqliteDatabase, prepared: Map<string, Statement[]>, wrote: () => void): Lent {
  let isClosed = false;
  let isBarred = false;
  const assertOpen = (): void => {
    if (isClosed) throw new TypeError("The database connection is not open");
  };
  const assertWrites = (): void => {
    assertOpen();
    if (isBarred) throw new TypeError("a dead process has a readonly database");
  };
  /** so many statements of each text this life has: each caller has its own, as it would have anew */
  const taken = new Map<string, number>();
  const prepare = (text: string): Statement => {
    assertOpen();
    const known = prepared.get(text) ?? [];
    prepared.set(text, known);
    const index = taken.get(text) ?? 0;
    taken.set(text, index + 1);
    const statement = known[index] ?? db.prepare(text);
    known[index] = statement;
    return statement.readonly ? guarded(statement, assertOpen) : guarded(statement, assertWrites, wrote);
  };
  const lent: SqliteDatabase = Object.create(db, {
    open: { get: () => !isClosed && db.open },
    prepare: { value: prepare },
    exec: { value: (text: string) => after(assertWrites, () => db.exec(text), wrote) },
    pragma: { value: (...args: Parameters<typeof db.pragma>) => after(assertOpen, () => db.pragma(...args)) },
    transaction: {
      value: (work: (...values: unknown[]) => unknown) => {
        const { immediate, deferred } = db.transaction(work);
        return {
          immediate: (...values: unknown[]) => after(assertWrites, () => immediate(...values), wrote),
          deferred: (...values: unknown[]) => after(assertOpen, () => deferred(...values)),
        };
      },
    },
    close: {
      value: () => {
        isClosed = true;
      },
    },
  });
  return {
    db: lent,
    bar: () => {
      isBarred = true;
    },
    close: () => {
      isClosed = true;
    },
  };
}

/** @param done hears of its end, also where it failed */
function after<T>(assert: () => void, work: () => T, done?: () => void): T {
  assert();
  try {
    return work();
  } finally {
    done?.();
  }
}

/** The statement as a life has it: with the settings of a new one, and of no use once that life is over. */
function guarded(statement: Statement, assert: () => void, wrote?: () => void): Statement {
  if (statement.reader) statement.pluck(false);
  const mine: Statement = Object.create(statement, {
    run: { value: (...values: unknown[]) => after(assert, () => statement.run(...values), wrote) },
    get: { value: (...values: unknown[]) => after(assert, () => statement.get(...values), wrote) },
    all: { value: (...values: unknown[]) => after(assert, () => statement.all(...values), wrote) },
    pluck: {
      value: (isPlucked = true) => {
        statement.pluck(isPlucked);
        return mine;
      },
    },
  });
  return mine;
}
