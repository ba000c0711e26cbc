import { existsSync } from "node:fs";
import { dirname } from "node:path";
import SqliteConstructor from "better-sqlite3";
import { createPrivate, narrowToOwner } from "./private-file.ts";

/** An open SQLite connection. */
export type SqliteDatabase = SqliteConstructor.Database;

/** Why a database cannot be used; the message says what to do. */
export class StorageError extends Error {
  readonly code: "sqlite too old" | "not durable" | "foreign file" | "cannot open";
  /** the file that cannot be opened */
  readonly path: string | undefined;

  constructor(code: StorageError["code"], message: string, options?: { cause: unknown; path?: string }) {
    super(message, options);
    this.name = "StorageError";
    this.code = code;
    this.path = options?.path;
  }
}

/** SQLite before this version can lose committed pages of a WAL that several connections write. */
const MINIMUM_SQLITE_VERSION = [3, 51, 3] as const;

/** Marks a file as ours ("swpd"), so that a wrong path is refused instead of written to. */
const APPLICATION_ID = 0x73777064;

const BUSY_TIMEOUT_MS = 5_000;
const SYNCHRONOUS_FULL = 2;

/**
 * Opens a database file, created when it does not exist (never when read-only), with the pragmas that make a commit
 * survive a power loss. They are checked after a first write, because a fresh file reports FULL until then. The file is
 * its owner's alone.
 * @throws StorageError when the file cannot be opened, is not ours, or cannot be made durable
 */
export function openDatabase(options: { file: string; readonly?: boolean }): SqliteDatabase {
  const readonly = options.readonly ?? false;
  const db = open(options.file, readonly);
  try {
    assertSqliteVersion(db);
    refuseForeignFile(db, options.file);
    db.pragma("foreign_keys = ON");
    addExactSum(db);
    if (!readonly) makeDurable(db, options.file);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof SqliteConstructor.SqliteError) throw cannotOpen(options.file, error);
    throw error;
  }
}

/** `exact_sum(text)`: the sum of decimal text of any length. SQLite's own sum of what is beyond 64 bits is a float. */
function addExactSum(db: SqliteDatabase): void {
  db.aggregate<bigint>("exact_sum", {
    start: 0n,
    step: (total, text: unknown) => total + BigInt(String(text)),
    result: (total) => total.toString(),
    deterministic: true,
  });
}

function open(file: string, readonly: boolean): SqliteDatabase {
  if (!readonly && file !== ":memory:") {
    createPrivate(file);
    narrowToOwner(file);
  }
  try {
    return new SqliteConstructor(file, { readonly, fileMustExist: readonly, timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw cannotOpen(file, error);
  }
}

/** What SQLite and the file system say of a file that cannot be opened names no path, and no folder that is missing. */
export function cannotOpen(file: string, cause: unknown): StorageError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const folder = dirname(file);
  const missing = `the folder ${folder} does not exist: make it, or mount what belongs there`;
  const reason = existsSync(folder) ? said : missing;
  return new StorageError("cannot open", `cannot open the database ${file}: ${reason}`, { cause, path: file });
}

function assertSqliteVersion(db: SqliteDatabase): void {
  const version = db.prepare<[], string>("SELECT sqlite_version()").pluck().get() ?? "";
  if (isAtLeast(version, MINIMUM_SQLITE_VERSION)) return;
  const minimum = MINIMUM_SQLITE_VERSION.join(".");
  throw new StorageError(
    "sqlite too old",
    `SQLite ${version} is older than ${minimum}, which fixes lost commits in WAL mode: update better-sqlite3`,
  );
}

/** Compares a dotted version text with a minimum, number by number. */
export function isAtLeast(version: string, minimum: readonly number[]): boolean {
  const parts = version.split(".").map(Number);
  for (const [index, wanted] of minimum.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

function refuseForeignFile(db: SqliteDatabase, file: string): void {
  const id = db.pragma("application_id", { simple: true });
  if (id === APPLICATION_ID) return;
  const objects = db.prepare<[], number>("SELECT count(*) FROM sqlite_schema").pluck().get();
  if (id === 0 && objects === 0) return;
  throw new StorageError("foreign file", `${file} is an SQLite database of another program: name another file`);
}

function makeDurable(db: SqliteDatabase, file: string): void {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma(`application_id = ${APPLICATION_ID}`);
  // The level is per connection and SQLite lowers it at the first write to a fresh WAL file: set it again, then check.
  db.pragma("synchronous = FULL");
  assertDurable(db, file);
}

/**
 * Checks that commits of this connection reach the disk before they return.
 * @throws StorageError when the journal mode is not WAL or the synchronous level is below FULL
 */
export function assertDurable(db: SqliteDatabase, file: string): void {
  const journal = db.pragma("journal_mode", { simple: true });
  const synchronous = db.pragma("synchronous", { simple: true });
  if (journal === "wal" && synchronous === SYNCHRONOUS_FULL) return;
  throw new StorageError(
    "not durable",
    `${file} has journal_mode=${String(journal)}, synchronous=${String(synchronous)} instead of wal and 2 (FULL): ` +
      "commits could be lost, put the database on a local disk",
  );
}
