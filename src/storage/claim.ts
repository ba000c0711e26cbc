import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { SqliteDatabase } from "./database.ts";
import { acquireLock, checkLock, type LockHeld } from "./lock.ts";
import { isMountPoint } from "./mount-points.ts";
import { createPrivateFor, hasCode, narrowToOwner } from "./private-file.ts";
import { type Stamp, stampDatabase } from "./stamp.ts";

/** A database file that this process alone may write to, until `release` or its end. */
export interface Claim {
  readonly kind: "claimed";
  /** the file itself, links resolved */
  readonly file: string;
  /** what stood there: a file with bytes, one without any, or nothing */
  readonly found: "database" | "empty" | "missing";
  /** files that others could read until now */
  readonly narrowed: readonly string[];
  /**
   * Why the claim is no longer valid: the lock or the database itself was removed, replaced or written over; undefined
   * while it is valid.
   */
  problem(): string | undefined;
  /** Whether the database itself is still the one that was claimed, whatever became of the lock. */
  keepsDatabase(): boolean;
  /** From here on a copy that is written over the file itself is a problem, too. To be called once. */
  watchContents(db: SqliteDatabase): void;
  /** To be called once this process has closed the database. */
  release(): void;
}

/** The file has a second name, here or outside a mount of it: opened there, it would have a write-ahead log of its own. */
export interface Linked {
  readonly kind: "linked";
  readonly message: string;
}

/** A chain of links longer than this is a circle. */
const MOST_LINKS = 40;

/**
 * Claims a database for writing. The lock stands next to the file itself, whatever link led there, and the file is made,
 * empty and for its owner alone, where there is none.
 */
export function claimDatabase(database: string): Claim | LockHeld | Linked {
  const file = fileItself(database);
  const before = statOf(file);
  const second = before && secondName(file, before);
  if (second !== undefined) return { kind: "linked", message: second };
  const lockFile = lockOf(file);
  const lock = acquireLock(lockFile, { owner: before });
  if (lock.kind === "held") return lock;
  try {
    return claimLocked(file, lockFile, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** What is wrong with a file that is known by two names, or is none, and what to do; undefined where nothing is. */
function secondName(file: string, before: Stats): string | undefined {
  const { nlink } = before;
  if (isMountPoint(file)) {
    const why = "its write-ahead log and its lock stay outside of that mount, where no other daemon sees them";
    const lost = "and the newest rows are lost with the container";
    return `${file} is mounted by itself: ${why}, ${lost}; move it into a folder of its own, and mount that at ${dirname(file)}`;
  }
  if (before.isDirectory()) return `${file} is a folder: name a file in it, for example ${file}/swapd.db`;
  if (nlink <= 1) return undefined;
  return `${file} has ${nlink} names (hard links), and a daemon on each would not see the other's rows: remove all names but this one`;
}

/** Whether some process has claimed a database, found without disturbing it. */
export function checkClaim(database: string): ReturnType<typeof checkLock> {
  return checkLock(lockOf(fileItself(database)));
}

function lockOf(file: string): string {
  return `${file}.lock.db`;
}

function claimLocked(file: string, lockFile: string, release: () => void): Claim {
  const found = statOf(file);
  if (found === undefined) createPrivateFor(file);
  const narrowed = [...narrowToOwner(file), ...narrowToOwner(lockFile)];
  let stamp: Stamp | undefined;
  const kept = [lockFile, file].map((name) => ({ name, id: identityOf(statOf(name)) }));
  return {
    kind: "claimed",
    file,
    found: found === undefined ? "missing" : found.size === 0 ? "empty" : "database",
    narrowed,
    problem: () => {
      if (stamp?.isGone() === true) {
        return `${file} was written over under the running daemon: restore a copy with \`swapd restore\`, never with cp`;
      }
      const changed = kept.find(({ name, id }) => identityOf(statOf(name)) !== id);
      if (changed === undefined) return undefined;
      const what = statOf(changed.name) === undefined ? "was removed" : "was replaced by another file";
      return `${changed.name} ${what} under the running daemon: a second daemon could start next to it`;
    },
    keepsDatabase: () => {
      const own = kept.find(({ name }) => name === file);
      return stamp?.isGone() !== true && identityOf(statOf(file)) === own?.id;
    },
    watchContents: (db) => {
      stamp = stampDatabase(db, file);
    },
    release: () => {
      stamp?.release();
      stamp = undefined;
      release();
    },
  };
}

/** The path of the file that a path leads to, also where it does not exist yet. */
function fileItself(path: string): string {
  let file = resolve(path);
  for (let links = 0; links < MOST_LINKS && isLink(file); links += 1) file = resolve(dirname(file), readlinkSync(file));
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch (error) {
    if (hasCode(error, ["ENOENT", "ENOTDIR"])) return file;
    throw error;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function statOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

function identityOf(stats: Stats | undefined): string | undefined {
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}
