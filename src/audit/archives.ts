import { inflateRawSync } from "node:zlib";
import type SqliteConstructor from "better-sqlite3";
import { z } from "zod";
import { type Difference, difference } from "./report.ts";

/** Rows of runs that are final and old, as they stood in their tables. */
export interface ArchivedRows {
  of(table: string): readonly Readonly<Record<string, unknown>>[];
}

const archive = z.object({
  version: z.literal(1),
  run: z.string(),
  tables: z.record(
    z.string(),
    z.object({ columns: z.array(z.string()), rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))) }),
  ),
});

interface ArchiveRow {
  readonly run: string;
  readonly seq: number;
  readonly base: number | null;
  readonly body: Uint8Array | null;
}

/** How much of its base a body was compressed against. */
const WINDOW_BYTES = 32_768;
const MOST_BASES = 64;

/** Reads the archives of all runs that a condition chooses. What cannot be read is a difference. */
export function readArchives(db: SqliteConstructor.Database, chosenRuns: string, found: Difference[]): ArchivedRows {
  const tables = new Map<string, Record<string, unknown>[]>();
  const bases = createBases(db);
  const rows = db
    .prepare<[], ArchiveRow>(
      `SELECT runs.id AS run, runs.archive AS seq, base, body FROM runs LEFT JOIN archives ON seq = runs.archive
       WHERE archive IS NOT NULL AND ${chosenRuns}`,
    )
    .iterate();
  for (const row of rows) {
    const why = readInto(tables, row, bases);
    if (why === undefined) continue;
    const message = `Archive ${row.seq} of run ${row.run} cannot be read: ${why}.`;
    found.push(difference("ROW_UNREADABLE", `archives ${row.seq}`, message, { run: row.run }));
  }
  return { of: (table) => tables.get(table) ?? [] };
}

type Bases = (seq: number) => string;

/** @returns why it cannot be read */
function readInto(tables: Map<string, Record<string, unknown>[]>, row: ArchiveRow, bases: Bases): string | undefined {
  try {
    if (row.body === null) return "it has no row";
    const text = inflate(row.body, row.base === null ? undefined : bases(row.base));
    const parsed = archive.safeParse(JSON.parse(text));
    if (!parsed.success) return "it does not have the shape of an archive";
    if (parsed.data.run !== row.run) return `it is that of run ${parsed.data.run}`;
    for (const [name, { columns, rows }] of Object.entries(parsed.data.tables)) {
      const known = tables.get(name) ?? [];
      tables.set(name, known);
      for (const cells of rows) known.push(Object.fromEntries(columns.map((column, index) => [column, cells[index]])));
    }
    return undefined;
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}

function inflate(body: Uint8Array, base: string | undefined): string {
  const options = base === undefined ? {} : { dictionary: Buffer.from(base).subarray(-WINDOW_BYTES) };
  return inflateRawSync(body, options).toString();
}

/** Runs of one strategy share their base: the last ones are at hand. */
function createBases(db: SqliteConstructor.Database): Bases {
  const select = db.prepare<[number], Uint8Array>("SELECT body FROM archives WHERE seq = ?").pluck();
  const known = new Map<number, string>();
  return (seq) => {
    const body = select.get(seq);
    const text = known.get(seq) ?? (body === undefined ? undefined : inflate(body, undefined));
    if (text === undefined) throw new Error(`archive ${seq}, which it needs, has no row`);
    if (known.size >= MOST_BASES) known.clear();
    known.set(seq, text);
    return text;
  };
}
