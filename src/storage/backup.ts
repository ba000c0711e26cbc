import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { openDatabase, type SqliteDatabase, StorageError } from "./database.ts";
import { createPrivate } from "./private-file.ts";
import { removeStamp } from "./stamp.ts";

/**
 * Copies an open database to a new file, while others read and write it. The copy is whole, checked, on disk and its
 * owner's alone under its name, or it does not have that name.
 * @returns its size in bytes
 * @throws StorageError when the copy is damaged; Error when the file exists already
 */
export function backUp(db: SqliteDatabase, to: string): number {
  if (existsSync(to)) throw new Error(`${to} exists already: name another file`);
  const unfinished = `${to}.unfinished`;
  rmSync(unfinished, { force: true });
  createPrivate(unfinished);
  try {
    db.prepare("VACUUM INTO ?").run(unfinished);
    removeStamp(unfinished);
    assertWhole(unfinished);
    syncFile(unfinished);
    renameSync(unfinished, to);
  } finally {
    for (const suffix of ["", ...COMPANIONS]) rmSync(`${unfinished}${suffix}`, { force: true });
  }
  syncFile(dirname(to));
  return statSync(to).size;
}

/**
 * Reads a database from its first page to its last.
 * @throws StorageError when it is none of ours, or damaged
 */
export function assertWhole(file: string): void {
  const db = openDatabase({ file, readonly: true });
  try {
    const problems = integrityProblems(db);
    if (problems.length > 0)
      throw new StorageError("cannot open", `${file} is damaged: ${problems.slice(0, 3).join("; ")}`);
  } finally {
    db.close();
  }
}

/** What SQLite finds wrong with an open database, rows that refer to nothing included; empty when it is whole. */
export function integrityProblems(db: SqliteDatabase): readonly string[] {
  try {
    return findProblems(db);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [error.message];
  }
}

/** Whether SQLite gave up on what it read: the file is damaged, or none of its own. */
export function isDamage(error: unknown): error is Error {
  const damage = /^SQLITE_(?:CORRUPT|NOTADB)/;
  return error instanceof Error && "code" in error && damage.test(String(error.code));
}

function findProblems(db: SqliteDatabase): readonly string[] {
  const pages = db.prepare<[], string>("PRAGMA integrity_check(10)").pluck().all();
  // Rows of pages that are damaged cannot be followed.
  if (pages.some((line) => line !== "ok")) return pages;
  const lost = db.prepare<[], { table: string; parent: string }>("PRAGMA foreign_key_check").all();
  return lost.map(({ table, parent }) => `a row of ${table} refers to no row of ${parent}`);
}

const COMPANIONS = ["-wal", "-shm", "-journal"];

/**
 * Puts a copy in a database's place. What stood there is kept under another name, with what SQLite keeps next to it,
 * and so is a log that was left without its database: SQLite would write it into the copy. To be called by the holder
 * of a claim on the database. `prepare` may write into the coming file before it stands there.
 * @returns where the replaced database is now; undefined when nothing stood there
 */
export async function replaceDatabase(
  file: string,
  by: { copy: string; keepAs: string; prepare?: (coming: string) => Promise<void> },
): Promise<string | undefined> {
  const coming = `${file}.restoring`;
  rmSync(coming, { force: true });
  createPrivate(coming);
  copyFileSync(by.copy, coming);
  await by.prepare?.(coming);
  assertWhole(coming);
  for (const suffix of COMPANIONS) rmSync(`${coming}${suffix}`, { force: true });
  syncFile(coming);
  const stood = existsSync(file) && statSync(file).size > 0;
  for (const suffix of [...(stood ? [""] : []), ...COMPANIONS]) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${by.keepAs}${suffix}`);
  }
  renameSync(coming, file);
  syncFile(dirname(file));
  return stood ? by.keepAs : undefined;
}

/** Of a folder: its entries. */
function syncFile(path: string): void {
  const handle = openSync(path, statSync(path).isDirectory() ? "r" : "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
