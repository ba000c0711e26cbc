import type { Store } from "../../../ports/store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { createStore } from "./store.ts";

/** The daemon's rows on an open, migrated database, for composing a daemon: without the single ones. */
export function openStore(db: SqliteDatabase): Store {
  return createStore(db);
}
