import type BetterSqlite3 from "better-sqlite3";
import type { SqliteDatabase } from "../../storage/database.ts";

/** What a bound value may be. */
export type SqlValue = string | number | bigint | null;

type PreparedStatement = BetterSqlite3.Statement<unknown[]>;

/** Prepared statements, each prepared once. */
export interface Statements {
  run(sql: string, ...values: SqlValue[]): number;
  insert(sql: string, ...values: SqlValue[]): number;
  all<Row>(sql: string, ...values: SqlValue[]): Row[];
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined;
  named(sql: string, values: Record<string, SqlValue>): number;
}

/** Wraps a connection with a cache of its statements. */
export function prepareStatements(db: SqliteDatabase): Statements {
  const cache = new Map<string, PreparedStatement>();
  const prepared = (sql: string): PreparedStatement => {
    const known = cache.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare<unknown[]>(sql);
    cache.set(sql, statement);
    return statement;
  };
  return {
    run: (sql, ...values) => prepared(sql).run(...values).changes,
    insert: (sql, ...values) => Number(prepared(sql).run(...values).lastInsertRowid),
    all: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).all(...values) as Row[],
    get: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).get(...values) as Row | undefined,
    named: (sql, values) => prepared(sql).run(values).changes,
  };
}
