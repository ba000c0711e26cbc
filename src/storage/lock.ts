import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import SqliteConstructor from "better-sqlite3";
import { cannotOpen } from "./database.ts";
import { createPrivateFor, giveTo, hasCode, type Owner } from "./private-file.ts";

/** The lock is ours until `release` or the end of the process, however it ends. */
export interface LockAcquired {
  readonly kind: "acquired";
  release(): void;
}

/** Another process holds the lock. `holder` is what that process wrote about itself, for messages only. */
export interface LockHeld {
  readonly kind: "held";
  readonly holder: string | undefined;
}

export interface LockOptions {
  /** one line that names this process to a second one, for example its pid and start */
  readonly holder?: string;
  /** whom root gives the lock to: the owner of the database; the owner of the folder where none is named */
  readonly owner?: Owner | undefined;
}

/** Locks of this process. A connection without a reference is closed by the garbage collector, and its lock with it. */
const held = new Set<SqliteConstructor.Database>();

/** Long enough to outlast the release of a process that is just ending, short enough to feel immediate. */
const WAIT_MS = 250;

/**
 * Takes an exclusive lock: a small SQLite file next to the database, kept open and locked. The operating system frees it
 * when the process ends, also by SIGKILL; there is no stale lock. The database itself stays readable by others.
 * @param file path of the lock file, for example `swapd.lock.db`
 * @throws StorageError when the file cannot be created or is no SQLite file
 */
export function acquireLock(file: string, options: LockOptions = {}): LockAcquired | LockHeld {
  createPrivateFor(file, options.owner);
  const db = open(file);
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    db.pragma("journal_mode = DELETE");
    // The exclusive lock is taken by the first write and, in this locking mode, kept.
    db.exec("BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS lock (id INTEGER PRIMARY KEY) STRICT; COMMIT");
  } catch (error) {
    db.close();
    if (error instanceof SqliteConstructor.SqliteError && error.code.startsWith("SQLITE_BUSY")) {
      return { kind: "held", holder: readHolder(holderFile(file)) };
    }
    throw cannotOpen(file, error);
  }
  try {
    writeHolder(file, options.holder ?? `pid ${process.pid}`);
  } catch (error) {
    // A full disk: another attempt of this process must not meet its own lock.
    db.close();
    throw cannotOpen(file, error);
  }
  held.add(db);
  return {
    kind: "acquired",
    release() {
      held.delete(db);
      if (!db.open) return;
      rmSync(holderFile(file), { force: true });
      db.close();
    },
  };
}

function open(file: string): SqliteConstructor.Database {
  try {
    return new SqliteConstructor(file, { timeout: WAIT_MS });
  } catch (error) {
    throw cannotOpen(file, error);
  }
}

/**
 * Whether another connection holds a lock now, and who, without taking it: a process that wants it at this moment still
 * gets it. `unknown`: this process may not read the file.
 */
export function checkLock(file: string): LockHeld | { readonly kind: "free" | "unknown" } {
  if (!existsSync(file)) return { kind: "free" };
  let db: SqliteConstructor.Database | undefined;
  try {
    db = new SqliteConstructor(file, { readonly: true, timeout: 0 });
    db.prepare("SELECT 1 FROM sqlite_schema").all();
    return { kind: "free" };
  } catch (error) {
    if (!(error instanceof SqliteConstructor.SqliteError)) throw error;
    if (!error.code.startsWith("SQLITE_BUSY")) return { kind: "unknown" };
    return { kind: "held", holder: readHolder(holderFile(file)) };
  } finally {
    db?.close();
  }
}

/** The holder's line stands in a file of its own, because other processes cannot read a file locked exclusively. */
function holderFile(file: string): string {
  return `${file}.holder`;
}

/** What a killed command of root's left cannot be written over by the owner of the folder, only removed. */
function writeHolder(file: string, holder: string): void {
  rmSync(holderFile(file), { force: true });
  writeFileSync(holderFile(file), `${holder}\n`, { mode: 0o600, flag: "wx" });
  giveTo(holderFile(file), statSync(file));
}

function readHolder(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    // The holder may not have written its line yet, may be leaving, or is root and has not given it away yet.
    if (hasCode(error, ["ENOENT", "EACCES"])) return undefined;
    throw error;
  }
}
