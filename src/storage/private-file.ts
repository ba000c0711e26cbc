import { chmodSync, chownSync, closeSync, openSync, statSync } from "node:fs";

/** Rows hold signatures before they are used: only the owner of a database may read it. */
const PRIVATE_MODE = 0o600;
const OTHERS = 0o077;

/** What SQLite keeps next to a database; it gives them the permissions that the database has. */
const COMPANIONS = ["", "-wal", "-shm", "-journal"];

/**
 * Makes an empty file that its owner alone may read, where there is none: whatever the umask, no other user can open it
 * in between. A missing folder is left to whatever opens the file.
 */
export function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, "ax", PRIVATE_MODE));
  } catch (error) {
    if (!hasCode(error, ["EEXIST", "ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EROFS", "EPERM", "ENOSPC"])) throw error;
  }
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
 * Gives what root makes next to another user's database to that user, who could not open it otherwise.
 * @returns false where that cannot be done; true also where there is nothing to do, because this process is not root's
 */
export function giveTo(file: string, { uid, gid }: { readonly uid: number; readonly gid: number }): boolean {
  if (process.getuid?.() !== 0) return true;
  try {
    chownSync(file, uid, gid);
    return true;
  } catch (error) {
    if (hasCode(error, ["EPERM", "EINVAL", "EROFS", "EACCES"])) return false;
    throw error;
  }
}

/** Whether a file system error has one of these codes. */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
