import type { Address } from "../../../domain/money/address.ts";
import type { Severity } from "../../../domain/run/alert.ts";
import type { Store } from "../../../ports/store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { prepareStatements } from "../statements.ts";
import { createAlertRows } from "./alert-rows.ts";
import { createLedgerRows } from "./ledger-rows.ts";
import { createOperationRows } from "./operation-rows.ts";
import { createReconciliationRows } from "./reconciliation-rows.ts";
import { writeRecord } from "./record-rows.ts";
import { createRunRows } from "./run-rows.ts";

/**
 * The daemon's rows on an open, migrated database. One daemon writes it; others may read.
 * @param options.sendAlertsFrom the least severity of alerts that wait to be sent; undefined: none is sent
 */
export function createStore(db: SqliteDatabase, options: { sendAlertsFrom?: Severity | undefined } = {}): Store {
  const sql = prepareStatements(db);
  const versions = new Map<Address, number>();
  const sumOfVersions = (): number => [...versions.values()].reduce((sum, version) => sum + version, 0);
  return {
    transaction: <T>(work: () => T): T => db.transaction(work).immediate(),
    ...createRunRows(sql),
    ...createLedgerRows(sql, (wallet) => (wallet === undefined ? sumOfVersions() : (versions.get(wallet) ?? 0))),
    ...createOperationRows(sql),
    ...createReconciliationRows(sql),
    ...createAlertRows(sql, options.sendAlertsFrom),
    writeRecord: (run, record, atMs) =>
      writeRecord(sql, record, {
        run,
        atMs,
        ledgerChanged: (wallet) => {
          versions.set(wallet, (versions.get(wallet) ?? 0) + 1);
        },
      }),
  };
}
