import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hasTables } from "../adapters/sqlite/daemon/schema.ts";
import { openDatabase, type SqliteDatabase, StorageError } from "../storage/database.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/**
 * The file of a service's own database, as the command line names it.
 * @throws CommandFailure where it is a daemon's: keys that are written there open no service
 */
export function serviceDatabase(named: string): string {
  const file = resolve(named);
  if (!existsSync(file) || !isOfDaemon(file)) return file;
  const message = `--database ${named}: this is a daemon's database; name the service's own one, as in \`serve.database\``;
  throw new CommandFailure(EXIT.usage, message);
}

/** What is no database is told by whoever needs it as one. */
function isOfDaemon(file: string): boolean {
  let db: SqliteDatabase;
  try {
    db = openDatabase({ file, readonly: true });
  } catch (error) {
    if (error instanceof StorageError) return false;
    throw error;
  }
  try {
    return hasTables(db);
  } finally {
    db.close();
  }
}
