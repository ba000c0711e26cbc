import type BetterSqlite3 from "better-sqlite3";
import { openDaemonDatabase } from "../../../src/app/daemon-database.ts";
import type { SqliteDatabase } from "../../../src/storage/database.ts";

type Statement = BetterSqlite3.Statement<unknown[]>;

/** What one life has of the connection: it is closed for that life alone. */
export interface Lent {
  readonly db: SqliteDatabase;
  close(): void;
}

/** The daemon's connection of one world. */
export interface Connection {
  /** Lends it to a life that begins; it is opened as the daemon opens it where nobody has it open. */
  lend(file: string): Lent;
  /** Closes it, so that the file may be exchanged. */
  close(): void;
}

/** as many pages as SQLite allows */
const MOST_PAGES = 1_073_741_823;

/**
 * Lets the lives of a world use one connection after each other: to open the file and to prepare the statements took a
 * third of a simulation's time. A life that is over can use it no more, and what a life has set is put back for the next.
 * @param wrote hears of everything that may have written, once it has
 */
export function createConnection(wrote: () => void): Connection {
  let db: SqliteDatabase | undefined;
  let prepared = new Map<string, Statement[]>();
  return {
    lend: (file) => {
      if (db === undefined) {
        db = openDaemonDatabase(file);
        prepared = new Map();
      } else {
        if (db.inTransaction) throw new Error("a dead process left a transaction open");
        db.pragma("query_only = OFF");
        db.pragma(`max_page_count = ${MOST_PAGES}`);
      }
      return lend(db, prepared, wrote);
    },
    close: () => {
      db?.close();
      db = undefined;
    },
  };
}

function lend(db: SqliteDatabase, prepared: Map<string, Statement[]>, wrote: () => void): Lent {
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw new TypeError("The database connection is not open");
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
    return guarded(statement, assertOpen, statement.readonly ? undefined : wrote);
  };
  const lent: SqliteDatabase = Object.create(db, {
    open: { get: () => !isClosed && db.open },
    prepare: { value: prepare },
    exec: { value: (text: string) => after(assertOpen, () => db.exec(text), wrote) },
    pragma: { value: (...args: Parameters<typeof db.pragma>) => after(assertOpen, () => db.pragma(...args)) },
    transaction: {
      value: (work: (...values: unknown[]) => unknown) => {
        const { immediate, deferred } = db.transaction(work);
        return {
          immediate: (...values: unknown[]) => after(assertOpen, () => immediate(...values), wrote),
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
    close: () => {
      isClosed = true;
    },
  };
}

/** @param done hears of its end, also where it failed */
function after<T>(assertOpen: () => void, work: () => T, done?: () => void): T {
  assertOpen();
  try {
    return work();
  } finally {
    done?.();
  }
}

/** The statement as a life has it: with the settings of a new one, and of no use once that life is over. */
function guarded(statement: Statement, assertOpen: () => void, wrote: (() => void) | undefined): Statement {
  if (statement.reader) statement.pluck(false);
  const mine: Statement = Object.create(statement, {
    run: { value: (...values: unknown[]) => after(assertOpen, () => statement.run(...values), wrote) },
    get: { value: (...values: unknown[]) => after(assertOpen, () => statement.get(...values), wrote) },
    all: { value: (...values: unknown[]) => after(assertOpen, () => statement.all(...values), wrote) },
    pluck: {
      value: (isPlucked = true) => {
        statement.pluck(isPlucked);
        return mine;
      },
    },
  });
  return mine;
}
