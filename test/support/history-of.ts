import { createHistoryReader, type HistoryReader } from "../../src/adapters/sqlite/daemon/history-rows.ts";
import type { DaemonDatabase } from "./daemon-database.ts";

/** What people read of a test's database. */
export function historyOf({ db }: Pick<DaemonDatabase, "db">): HistoryReader {
  return createHistoryReader(db);
}
