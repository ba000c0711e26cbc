import SqliteConstructor from "better-sqlite3";
import type { PaperRows } from "../../../ports/paper.ts";
import { createPaperRows, migratePaper } from "./paper-rows.ts";

/** Rows that nobody keeps, where each slot is judged alone: accounts have what they begin with, at each start anew. */
export function openFleetingPaper(): PaperRows {
  const db = new SqliteConstructor(":memory:");
  migratePaper(db);
  return createPaperRows(db);
}
