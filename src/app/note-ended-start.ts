import { existsSync } from "node:fs";
import { recordEndedStart } from "../adapters/sqlite/daemon/ended-starts.ts";
import { isMigrated } from "../adapters/sqlite/daemon/schema.ts";
import { claimDatabase } from "../storage/claim.ts";
import { openDatabase, StorageError } from "../storage/database.ts";
import { isStorageFault } from "../storage/storage-fault.ts";

const LONGEST_TEXT = 2_000;

/**
 * Writes down why a start ended, for `swapd status`. Not where there is no database, where another process has it, or where
 * its tables are not this program's. One that cannot be written hides nothing: whoever started is told why in any case.
 */
export function noteEndedStart(database: string, why: string): void {
  if (!existsSync(database)) return;
  try {
    const claim = claimDatabase(database);
    if (claim.kind !== "claimed") return;
    try {
      record(claim.file, why);
    } finally {
      claim.release();
    }
  } catch (error) {
    if (!(error instanceof StorageError || isStorageFault(error))) throw error;
  }
}

/**
 * The same of a daemon that ran until now, whose process still has its claim, and its own connection, which may be what
 * broke.
 */
export function noteEndedDaemon(database: string, why: string): void {
  if (existsSync(database)) record(database, why);
}

function record(file: string, why: string): void {
  const db = openDatabase({ file });
  try {
    if (isMigrated(db)) recordEndedStart(db, why.slice(0, LONGEST_TEXT), Date.now());
  } finally {
    db.close();
  }
}
