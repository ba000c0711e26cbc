import type Database from "better-sqlite3";
import { beyondLimit } from "../daemon/connection.ts";

/** A database's rows by plain SQL; it can be opened anew when the file is another. */
export interface Rows {
  all<Row>(sql: string, ...values: readonly unknown[]): Row[];
  one<Row>(sql: string, ...values: readonly unknown[]): Row | undefined;
  write(sql: string, ...values: readonly unknown[]): void;
  /** Lets others exchange the file meanwhile. */
  reopen(exchange: () => void): void;
  /** the connection that is open now */
  connection(): Database.Database;
  close(): void;
}

export function openRows(open: () => Database.Database): Rows {
  let db = open();
  let statements = new Map<string, Database.Statement<unknown[], unknown>>();
  const prepared = (sql: string): Database.Statement<unknown[], unknown> => {
    if (db.inTransaction) throw new Error("rows are read in the middle of somebody's transaction");
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const made = db.prepare<unknown[], unknown>(sql);
    statements.set(sql, made);
    return made;
  };
  return {
    all: <Row>(sql: string, ...values: readonly unknown[]) => prepared(sql).all(...values) as Row[],
    one: <Row>(sql: string, ...values: readonly unknown[]) => prepared(sql).get(...values) as Row | undefined,
    write: (sql, ...values) => beyondLimit(db, () => prepared(sql).run(...values)),
    reopen: (exchange) => {
      db.close();
      exchange();
      db = open();
      statements = new Map();
    },
    connection: () => db,
    close: () => void db.close(),
  };
}

/** Rows whose answers are kept until something may have been written. */
export interface KeptRows extends Rows {
  /** Somebody else may have written: what was read before is read anew. */
  changed(): void;
}

/** The oracle asks the same far more often than anything is written. */
export function keepAnswers(rows: Rows): KeptRows {
  const answers = new Map<string, unknown>();
  const once = <T>(question: readonly unknown[], read: () => T): T => {
    const key = question.join("|");
    if (!answers.has(key)) answers.set(key, read());
    return answers.get(key) as T;
  };
  const changed = (): void => answers.clear();
  return {
    all: <Row>(sql: string, ...values: readonly unknown[]) =>
      once(["all", sql, ...values], () => rows.all<Row>(sql, ...values)),
    one: <Row>(sql: string, ...values: readonly unknown[]) =>
      once(["one", sql, ...values], () => rows.one<Row>(sql, ...values)),
    write: (sql, ...values) => {
      rows.write(sql, ...values);
      changed();
    },
    reopen: (exchange) => {
      rows.reopen(exchange);
      changed();
    },
    changed,
    connection: rows.connection,
    close: rows.close,
  };
}
