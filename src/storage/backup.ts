import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openDatabase, type SqliteDatabase, StorageError } from "./database.ts";
import { createPrivate, giveTo, hasCode } from "./private-file.ts";
import { removeStamp } from "./stamp.ts";
import { syncFile } from "./whole-file.ts";

/** An open database, and the file that its copy is to be. */
export interface WantedCopy {
  readonly db: SqliteDatabase;
  readonly to: string;
}

/**
 * Copies open databases to new files, while others read and write them, all or none. A copy is whole, checked, on disk
 * and its owner's alone under its name, or it does not have that name.
 * @returns their sizes in bytes
 * @throws StorageError when a copy is damaged; Error when one of the files exists already
 */
export function backUp(wanted: readonly WantedCopy[]): readonly number[] {
  for (const { to } of wanted) if (existsSync(to)) throw new Error(`${to} exists already: name another file`);
  try {
    for (const { db, to } of wanted) copyAside(db, unfinishedOf(to));
    renameAll(wanted.map(({ to }) => [unfinishedOf(to), to]));
  } finally {
    for (const { to } of wanted) removeAll(unfinishedOf(to), ["", ...COMPANIONS]);
  }
  for (const { to } of wanted) syncFile(dirname(to));
  return wanted.map(({ to }) => statSync(to).size);
}

function copyAside(db: SqliteDatabase, unfinished: string): void {
  copyRows(db, unfinished);
  assertWhole(unfinished);
  syncFile(unfinished);
}

/** By SQLite, which reads what stands in a log beside the file as well, all of it as of one instant. */
function copyRows(db: SqliteDatabase, to: string): void {
  removeAll(to, ["", ...COMPANIONS]);
  createPrivate(to);
  db.prepare("VACUUM INTO ?").run(to);
  removeStamp(to);
}

function unfinishedOf(to: string): string {
  return `${to}.unfinished`;
}

/** Half a day: a copy is written without a rest; only the look at it afterwards, which writes nothing, takes long. */
const LEFT_AFTER_MS = 43_200_000;
const LEFTOVER = /(?:\.service)?\.unfinished(?:-wal|-shm|-journal)?$/;

/**
 * Removes what is left of copies that were never finished, because whoever made them was killed, and that were to have a
 * name like this one's: the same but for its digits, as the day or the time in a name.
 * @returns the files that are gone
 */
export function removeLeftovers(to: string, nowMs: number): readonly string[] {
  const folder = dirname(to);
  const left = entriesOf(folder).filter(
    (entry) => LEFTOVER.test(entry) && digitless(entry.replace(LEFTOVER, "")) === digitless(basename(to)),
  );
  return left.map((entry) => join(folder, entry)).filter((file) => isLeft(file, nowMs) && isRemoved(file));
}

/** None of a folder that is not there, or that may be written to and not read: making the copy says what is wrong. */
function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, ["ENOENT", "ENOTDIR", "EACCES", "EPERM"])) return [];
    throw error;
  }
}

function digitless(name: string): string {
  return name.replaceAll(/\d+/g, "0");
}

/** Another backup may be at work in this folder. */
function isLeft(file: string, nowMs: number): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && Math.abs(nowMs - stats.mtimeMs) > LEFT_AFTER_MS;
}

/** What is another user's stays: that keeps no copy from being made. */
function isRemoved(file: string): boolean {
  try {
    rmSync(file);
    return true;
  } catch (error) {
    if (hasCode(error, ["ENOENT", "EACCES", "EPERM", "EROFS"])) return false;
    throw error;
  }
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

/** A database whose place a copy is to take. */
export interface Replacement {
  readonly file: string;
  readonly copy: string;
  /** where what stood there goes */
  readonly keepAs: string;
  /** may write into the coming file before it stands there */
  readonly prepare?: (coming: string) => Promise<void>;
}

/**
 * Puts copies in the places of databases, all or none. What stood there is kept under another name, with what SQLite
 * keeps next to it, and so is a log that was left without its database: SQLite would write it into the copy. A copy may
 * be what a killed daemon left, with its log. To be called by the holder of a claim on each. What stands there then belongs
 * to the owner of what it replaces, also where root restores it.
 * @returns where each replaced database is now; undefined when nothing stood there
 */
export async function replaceDatabases(wanted: readonly Replacement[]): Promise<readonly (string | undefined)[]> {
  try {
    for (const one of wanted) await layAside(one);
    const stood = wanted.map(({ file }) => existsSync(file) && statSync(file).size > 0);
    renameAll(wanted.flatMap((one, index) => [...renamesOf(one, stood[index] === true)]));
    for (const { file } of wanted) syncFile(dirname(file));
    return wanted.map(({ keepAs }, index) => (stood[index] === true ? keepAs : undefined));
  } finally {
    for (const { file } of wanted) removeAll(comingOf(file), ["", ...COMPANIONS]);
  }
}

async function layAside({ file, copy, prepare }: Replacement): Promise<void> {
  const coming = comingOf(file);
  const db = openDatabase({ file: copy, readonly: true });
  try {
    copyRows(db, coming);
  } finally {
    db.close();
  }
  await prepare?.(coming);
  assertWhole(coming);
  removeAll(coming, COMPANIONS);
  if (existsSync(file) && !giveTo(coming, statSync(file))) {
    throw new StorageError("cannot open", `${coming} cannot be given to the owner of ${file}: restore as that user`);
  }
  syncFile(coming);
}

function renamesOf({ file, keepAs }: Replacement, stood: boolean): readonly Rename[] {
  const kept = [...(stood ? [""] : []), ...COMPANIONS].filter((suffix) => existsSync(`${file}${suffix}`));
  return [...kept.map((suffix): Rename => [`${file}${suffix}`, `${keepAs}${suffix}`]), [comingOf(file), file]];
}

function comingOf(file: string): string {
  return `${file}.restoring`;
}

type Rename = readonly [from: string, to: string];

/** Where one cannot be done, those before it are taken back. */
function renameAll(renames: readonly Rename[]): void {
  const done: Rename[] = [];
  try {
    for (const [from, to] of renames) {
      renameSync(from, to);
      done.push([from, to]);
    }
  } catch (error) {
    for (const [from, to] of done.reverse()) renameSync(to, from);
    throw error;
  }
}

function removeAll(file: string, suffixes: readonly string[]): void {
  for (const suffix of suffixes) rmSync(`${file}${suffix}`, { force: true });
}
