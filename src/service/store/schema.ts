import type { SqliteDatabase } from "../../storage/database.ts";
import { type SchemaVersion, versionsOf } from "../../storage/schema-versions.ts";

const FOLDERS = {
  service: new URL("./migrations/", import.meta.url),
  "service-keys": new URL("../keys/migrations/", import.meta.url),
  "service-pools": new URL("../pools/migrations/", import.meta.url),
  relay: new URL("../relayer/migrations/", import.meta.url),
};

/** How far the service's own tables are in a database; those of its relayer's lane are the daemon's, too. */
export function serviceVersions(db: SqliteDatabase): readonly SchemaVersion[] {
  return versionsOf(db, FOLDERS);
}
