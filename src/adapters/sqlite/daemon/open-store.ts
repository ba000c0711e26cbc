import type { Store } from "../../../ports/store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { createStore } from "./store.ts";

/** The daemon's rows on an open, migrated database, as anyone who composes a daemon sees them: without the single ones. */
export function openStore(db: SqliteDatabase): Store {
  return createStore(db);
}
