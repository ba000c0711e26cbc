import { statSync } from "node:fs";
import type { SqliteDatabase } from "./database.ts";

/** How large a database is. Bytes. */
export interface DatabaseFigures {
  /** the file, without its log */
  readonly bytes: number;
  /** of it, pages that hold nothing and are used again */
  readonly freeBytes: number;
  /** the write-ahead log beside it; 0 where there is none */
  readonly logBytes: number;
  /** tables and their indexes, the largest first */
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly bytes: number }[];
}

/** Reads the sizes of an open database and its tables; it reads each of its pages. */
export function readFigures(db: SqliteDatabase): DatabaseFigures {
  const pragma = (name: string): number => Number(db.pragma(name, { simple: true }));
  const pageBytes = pragma("page_size");
  const bytes = new Map(
    db
      .prepare<[], { table: string; bytes: number }>(
        `SELECT sqlite_schema.tbl_name AS "table", sum(dbstat.pgsize) AS bytes
         FROM dbstat JOIN sqlite_schema ON sqlite_schema.name = dbstat.name GROUP BY 1`,
      )
      .all()
      .map((row) => [row.table, row.bytes]),
  );
  const tables = [...bytes].map(([table, size]) => ({ table, bytes: size, rows: countRows(db, table) }));
  return {
    bytes: pragma("page_count") * pageBytes,
    freeBytes: pragma("freelist_count") * pageBytes,
    logBytes: statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    tables: tables.sort((one, other) => other.bytes - one.bytes || (one.table < other.table ? -1 : 1)),
  };
}

function countRows(db: SqliteDatabase, table: string): number {
  const quoted = `"${table.replaceAll('"', '""')}"`;
  return db.prepare<[], number>(`SELECT count(*) FROM ${quoted}`).pluck().get() ?? 0;
}
