import type { SqliteDatabase } from "../../storage/database.ts";

const INCREMENTAL = 2;

/** Pages that are given back at a time: some milliseconds of work. */
const PAGES_OF_A_SLICE = 64;

/** The log next to the file does not stay at its largest size either. */
const MAX_LOG_BYTES = 16 * 1_024 * 1_024;

/**
 * Lets the file give back what its rows no longer need. A file of an earlier release is written anew for that, once; where
 * there is no room for it on the disk the file stays as large as it is, and the next start tries again.
 */
export function letFileShrink(db: SqliteDatabase): void {
  db.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`);
  if (db.pragma("auto_vacuum", { simple: true }) === INCREMENTAL) return;
  db.pragma("auto_vacuum = INCREMENTAL");
  try {
    db.exec("VACUUM");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "SQLITE_FULL")) throw error;
  }
}

/** Gives back some of the pages that hold nothing. */
export function giveBackPages(db: SqliteDatabase): void {
  db.pragma(`incremental_vacuum(${PAGES_OF_A_SLICE})`);
}
