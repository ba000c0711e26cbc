import { chmodSync, closeSync, fchownSync, lchownSync, lstatSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Rows hold signatures before they are used: only the owner of a database may read it. */
const PRIVATE_MODE = 0o600;
const OTHERS = 0o077;

/** What SQLite keeps next to a database; it gives them the permissions that the database has. */
const COMPANIONS = ["", "-wal", "-shm", "-journal"];

/** Whom a file belongs to. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Makes an empty file that its owner alone may read, where there is none: whatever the umask, no other user can open it
 * in between. A missing folder is left to whatever opens the file.
 * @param owner whom root gives it to
 */
export function createPrivate(file: string, owner?: Owner): void {
  try {
    const made = openSync(file, "ax", PRIVATE_MODE);
    if (owner !== undefined) give(owner, (uid, gid) => fchownSync(made, uid, gid));
    closeSync(made);
  } catch (error) {
    if (!hasCode(error, ["EEXIST", "ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EROFS", "EPERM", "ENOSPC"])) throw error;
  }
}

/**
 * The same for what another user opens as well. What root makes is given away at once, before SQLite gives its journal the
 * owner that the file has then, because a command may be killed at any time; and so is what a killed one left. A link, or
 * what has a second name, was not made here: it stays as it is.
 * @param owner whom the file is for; the owner of its folder where none is named
 */
export function createPrivateFor(file: string, owner?: Owner): void {
  const receiver = isRoot() ? (owner ?? statSync(dirname(file), { throwIfNoEntry: false })) : undefined;
  createPrivate(file, receiver);
  if (receiver === undefined) return;
  const made = lstatSync(file, { throwIfNoEntry: false });
  if (made?.isFile() === true && made.nlink === 1) giveTo(file, receiver);
}

/**
 * Takes the permissions of group and others from a database and what SQLite keeps next to it.
 * @returns the files that others could read or write until now
 */
export function narrowToOwner(file: string): readonly string[] {
  return COMPANIONS.map((suffix) => `${file}${suffix}`).filter(narrow);
}

/** Another user's file stays as it is: opening it shows whether it can be used at all. */
function narrow(file: string): boolean {
  try {
    const { mode } = statSync(file);
    if ((mode & OTHERS) === 0) return false;
    chmodSync(file, mode & 0o700);
    return true;
  } catch (error) {
    if (hasCode(error, ["ENOENT", "ENOTDIR", "EPERM", "EROFS", "EACCES"])) return false;
    throw error;
  }
}

/**
 * Gives what root makes next to another user's database to that user, who could not open it otherwise; never what a link
 * leads to.
 * @returns false where that cannot be done; true also where there is nothing to do, because this process is not root's
 */
export function giveTo(file: string, owner: Owner): boolean {
  return give(owner, (uid, gid) => lchownSync(file, uid, gid));
}

function give({ uid, gid }: Owner, change: (uid: number, gid: number) => void): boolean {
  if (!isRoot()) return true;
  try {
    change(uid, gid);
    return true;
  } catch (error) {
    if (hasCode(error, ["EPERM", "EINVAL", "EROFS", "EACCES"])) return false;
    throw error;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Whether a file system error has one of these codes. */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
