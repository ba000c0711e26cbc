import { hasColumn, type Statements } from "../statements.ts";
import { unpack } from "./pack.ts";

/** Version of the stored form of an archive. */
export const ARCHIVE_VERSION = 1;

/** Bases that are at hand: one a strategy is in use at a time. */
const MOST_BASES = 16;

/** Rows of a table: the names of their columns once, and the values of each. */
export interface StoredRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** What an archive is, compressed. */
export interface StoredArchive {
  readonly version: number;
  readonly run: string;
  readonly tables: Readonly<Record<string, StoredRows>>;
}

/** What stood in the tables, before it went into an archive. */
export interface Archive {
  /** The rows of a table, in the order in which they were written; of `swaps` the columns that are empty there now. */
  rows<T>(table: string): readonly T[];
}

/** Finds archives. A database that no daemon of this release has opened yet has none. */
export interface ArchiveReader {
  /** undefined: the rows of this run are where they were written */
  ofRun(id: string): Archive | undefined;
  /** those of runs and swaps, each once */
  ofSubjects(ids: readonly string[]): readonly Archive[];
}

/** Opens the archives of a database; the last one that was asked for is at hand. */
export function createArchiveReader(sql: Statements): ArchiveReader {
  const baseOf = createBases(sql);
  let mayHave: boolean | undefined;
  let last: { readonly seq: number; readonly archive: Archive } | undefined;
  const isThere = (): boolean => {
    mayHave ??= hasColumn(sql, "runs", "archive");
    return mayHave;
  };
  const read = (seq: number): Archive => {
    if (last?.seq !== seq) last = { seq, archive: readArchive(sql, seq, baseOf) };
    return last.archive;
  };
  return {
    ofRun: (id) => {
      if (!isThere()) return undefined;
      const seq = sql.get<{ archive: number | null }>("SELECT archive FROM runs WHERE id = ?", id)?.archive;
      return typeof seq === "number" ? read(seq) : undefined;
    },
    ofSubjects: (ids) => {
      if (!isThere()) return [];
      const asked = JSON.stringify(ids);
      return sql.all<{ archive: number }>(OF_SUBJECTS, asked, asked).map(({ archive }) => read(archive));
    },
  };
}

const OF_SUBJECTS = `SELECT archive FROM runs WHERE archive IS NOT NULL AND id IN (
  SELECT value FROM json_each(?) UNION SELECT run_id FROM swaps WHERE id IN (SELECT value FROM json_each(?)))`;

/** Why an archive cannot be read or written: another program changed the database. */
export class ArchiveError extends Error {}

/**
 * Reads an archive.
 * @throws ArchiveError when it is missing, or was written by a later version
 */
function readArchive(sql: Statements, seq: number, baseOf: (seq: number) => string): Archive {
  const { base, body } = bodyOf(sql, seq);
  const text = unpack(body, base === null ? undefined : baseOf(base));
  const { version, tables } = JSON.parse(text) as StoredArchive;
  if (version !== ARCHIVE_VERSION)
    throw new ArchiveError(`archive ${seq} is of version ${version}; this program knows ${ARCHIVE_VERSION}`);
  return {
    rows: <T>(table: string) => {
      const { columns, rows } = tables[table] ?? { columns: [], rows: [] };
      return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]]))) as T[];
    },
  };
}

/** The texts that others were compressed against, the last ones in memory: for readers. */
function createBases(sql: Statements): (seq: number) => string {
  const known = new Map<number, string>();
  return (seq) => {
    const text = known.get(seq) ?? baseText(sql, seq);
    known.delete(seq);
    known.set(seq, text);
    const [oldest] = known.keys();
    if (known.size > MOST_BASES && oldest !== undefined) known.delete(oldest);
    return text;
  };
}

/**
 * The text that others are compressed against. A writer reads it anew for each: one that was taken back is another
 * one under the same number.
 * @throws ArchiveError when it is missing
 */
export function baseText(sql: Statements, seq: number): string {
  return unpack(bodyOf(sql, seq).body);
}

function bodyOf(sql: Statements, seq: number): { readonly base: number | null; readonly body: Uint8Array } {
  const row = sql.get<{ base: number | null; body: Uint8Array }>("SELECT base, body FROM archives WHERE seq = ?", seq);
  if (row === undefined)
    throw new ArchiveError(`archive ${seq} is missing: the database was changed by another program`);
  return row;
}
