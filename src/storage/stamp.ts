import { randomInt } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import SqliteConstructor from "better-sqlite3";
import type { SqliteDatabase } from "./database.ts";

/** Where the number that a program may choose stands in the first page of an SQLite file. */
const USER_VERSION_AT = 60;
const USER_VERSION_BYTES = 4;
const LARGEST = 2 ** 31 - 1;

/** A number of this life in the first page of the file. */
export interface Stamp {
  /**
   * Whether the file was written over since: a copy of another life, or a backup, stands in it, under the same name and
   * identity.
   */
  isGone(): boolean;
  /** To be called once no connection of this process has the database open. */
  release(): void;
}

/**
 * Writes a number of this life's own into a claimed database. `cp copy.db swapd.db` keeps the file and replaces what is in
 * it, which no check of the folder shows.
 *
 * The number reaches the file itself with the first checkpoint, and only from then on it can be missed. The file is read
 * through one handle that stays open: closing any handle of a file ends the locks that SQLite has on it in this process.
 */
export function stampDatabase(db: SqliteDatabase, file: string): Stamp {
  const stamp = randomInt(1, LARGEST);
  db.pragma(`user_version = ${stamp}`);
  db.pragma("wal_checkpoint(PASSIVE)");
  const handle = openSync(file, "r");
  const bytes = Buffer.alloc(USER_VERSION_BYTES);
  let wasThere = false;
  return {
    isGone: () => {
      const read = readSync(handle, bytes, 0, USER_VERSION_BYTES, USER_VERSION_AT);
      const isThere = read === USER_VERSION_BYTES && bytes.readUInt32BE() === stamp;
      wasThere ||= isThere;
      return wasThere && !isThere;
    },
    release: () => closeSync(handle),
  };
}

/** Takes the number of the life in which it was made out of a copy: else it could be written over that life's own file. */
export function removeStamp(copy: string): void {
  const db = new SqliteConstructor(copy);
  try {
    db.pragma("user_version = 0");
  } finally {
    db.close();
  }
}
