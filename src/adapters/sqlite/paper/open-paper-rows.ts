import SqliteConstructor from "better-sqlite3";
import type { PaperRows } from "../../../ports/paper.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { migrate, ownMigrations } from "../../../storage/migrations.ts";
import { createPaperRows } from "./paper-rows.ts";

/** Opens what happens on paper in this database, with its tables created or updated after a copy. */
export function openPaperRows(db: SqliteDatabase): PaperRows {
  const migrations = ownMigrations(new URL("./", import.meta.url));
  migrate(db, { set: "paper", migrations, backup: true });
  return createPaperRows(db);
}

/** Rows that nobody keeps, where each slot is judged alone: accounts have what they begin with, at each start anew. */
export function openFleetingPaper(): PaperRows {
  return openPaperRows(new SqliteConstructor(":memory:"));
}
