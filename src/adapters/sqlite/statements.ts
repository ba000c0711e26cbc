import type BetterSqlite3 from "better-sqlite3";
import type { SqliteDatabase } from "../../storage/database.ts";

/** What a bound value may be. */
export type SqlValue = string | number | bigint | Uint8Array | null;

type PreparedStatement = BetterSqlite3.Statement<unknown[]>;

/** Prepared statements, each prepared once. */
export interface Statements {
  run(sql: string, ...values: SqlValue[]): number;
  insert(sql: string, ...values: SqlValue[]): number;
  all<Row>(sql: string, ...values: SqlValue[]): Row[];
  /** The only column of every row, without an object around each. */
  column<Value>(sql: string, ...values: SqlValue[]): Value[];
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined;
  /** Rows by named values; those that the text does not name are left out. */
  allNamed<Row>(sql: string, values: Record<string, SqlValue>): Row[];
  named(sql: string, values: Record<string, SqlValue>): number;
}

/** Wraps a connection with a cache of its statements. */
export function prepareStatements(db: SqliteDatabase): Statements {
  const cache = new Map<string, PreparedStatement>();
  const columns = new Map<string, PreparedStatement>();
  const preparedIn = (known: Map<string, PreparedStatement>, sql: string): PreparedStatement => {
    const statement = known.get(sql) ?? db.prepare<unknown[]>(sql);
    known.set(sql, statement);
    return statement;
  };
  const prepared = (sql: string): PreparedStatement => preparedIn(cache, sql);
  return {
    run: (sql, ...values) => prepared(sql).run(...values).changes,
    insert: (sql, ...values) => Number(prepared(sql).run(...values).lastInsertRowid),
    column: <Value>(sql: string, ...values: SqlValue[]) =>
      preparedIn(columns, sql)
        .pluck()
        .all(...values) as Value[],
    all: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).all(...values) as Row[],
    get: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).get(...values) as Row | undefined,
    allNamed: <Row>(sql: string, values: Record<string, SqlValue>) => prepared(sql).all(values) as Row[],
    named: (sql, values) => prepared(sql).run(values).changes,
  };
}

/** The same of a column. */
export function hasColumn(sql: Statements, table: string, name: string): boolean {
  return sql.get("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, name) !== undefined;
}

/** A database that no daemon of this release has opened yet may lack a table. */
export function hasTable(sql: Statements, name: string): boolean {
  return sql.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) !== undefined;
}
