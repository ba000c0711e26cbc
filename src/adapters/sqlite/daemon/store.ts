import type { Store } from "../../../ports/store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { createLedgerRows } from "./ledger-rows.ts";
import { createOperationRows } from "./operation-rows.ts";
import { writeRecord } from "./record-rows.ts";
import { createRunRows } from "./run-rows.ts";
import { prepareStatements } from "./statements.ts";

/** The daemon's rows on an open, migrated database. One daemon writes it; others may read. */
export function createStore(db: SqliteDatabase): Store {
  const sql = prepareStatements(db);
  let version = 0;
  return {
    transaction: <T>(work: () => T): T => db.transaction(work).immediate(),
    ...createRunRows(sql),
    ...createLedgerRows(sql, () => version),
    ...createOperationRows(sql),
    writeRecord: (run, record, atMs) =>
      writeRecord(sql, record, {
        run,
        atMs,
        ledgerChanged: () => {
          version += 1;
        },
      }),
  };
}
