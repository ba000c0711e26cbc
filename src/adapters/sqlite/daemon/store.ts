import type { Address } from "../../../domain/money/address.ts";
import type { AlertRow } from "../../../ports/alert-store.ts";
import type { Change } from "../../../ports/changes.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { Store } from "../../../ports/store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { inSnapshot, inTransaction } from "../../../storage/transaction.ts";
import { createLaneRows } from "../lane-rows.ts";
import { rowMemoryOf } from "../row-memory.ts";
import { prepareStatements } from "../statements.ts";
import { createAlertRows } from "./alert-rows.ts";
import { createAnswers } from "./answers.ts";
import { createChatRows } from "./chat-rows.ts";
import { createDigestRows } from "./digest-rows.ts";
import { createEffectRows, readWaiting } from "./effect-rows.ts";
import { createHoldRows } from "./hold-rows.ts";
import { createLedgerRows } from "./ledger-rows.ts";
import { createOperationRows } from "./operation-rows.ts";
import { createReconciliationRows } from "./reconciliation-rows.ts";
import { writeRecord } from "./record-rows.ts";
import { createRetentionRows } from "./retention-rows.ts";
import type { RowStore, RunStore } from "./row-store.ts";
import { runMemoryOf } from "./run-memory.ts";
import { createRunRows } from "./run-rows.ts";
import { createUnitOfWork } from "./unit-of-work.ts";
import { type WorkQueue, workQueueOf } from "./work-queue.ts";
import { createWriters, writeChanges } from "./write-changes.ts";

/** The daemon's rows on an open, migrated database. One daemon writes it; others may read. */
export function createStore(db: SqliteDatabase): DaemonStore {
  const sql = prepareStatements(db);
  const versions = new Map<Address, number>();
  const sumOfVersions = (): number => [...versions.values()].reduce((sum, version) => sum + version, 0);
  const queue = workQueueOf(db, () => readWaiting(sql));
  const memory = runMemoryOf(db);
  const runs = createRunRows(sql, memory);
  let lanes: LaneRowStore | undefined;
  // Its tables may be missing until the daemon makes them.
  const laneRows = (): LaneRowStore => {
    lanes ??= createLaneRows(db, rowMemoryOf(db, "lanes"));
    return lanes;
  };
  const rows: RowStore = {
    transaction: (work) => inTransaction(db, work),
    ...runs,
    ...dueRunRows(runs, queue),
    ...createEffectRows(sql, queue),
    ...createLedgerRows(sql, (wallet) => (wallet === undefined ? sumOfVersions() : (versions.get(wallet) ?? 0))),
    ...createOperationRows(sql),
    ...createHoldRows(sql),
    ...createDigestRows(sql),
    ...createChatRows(sql),
    ...createReconciliationRows(sql, rowMemoryOf(db, "differences")),
    ...createRetentionRows(sql, db, memory),
    // Most of it belongs to a transaction that is open, and costs no more for that.
    ...createAlertRows(sql, (work) => (db.inTransaction ? work() : inTransaction(db, work))),
    writeRecord: (run, record, atMs) =>
      writeRecord(sql, record, {
        run,
        atMs,
        ledgerChanged: (wallet) => {
          versions.set(wallet, (versions.get(wallet) ?? 0) + 1);
        },
      }),
  };
  const answer = createAnswers(rows, laneRows);
  const writers = createWriters(rows, laneRows);
  const write = (changes: readonly Change[], atMs: number): readonly AlertRow[] =>
    writeChanges(writers, { changes, atMs });
  return {
    ...rows,
    ...createUnitOfWork({
      transaction: rows.transaction,
      snapshot: (work) => inSnapshot(db, work),
      ...{ answer, write },
    }),
    letRunsGo: async (slice) =>
      rows.transaction(() => (rows.openDifferences().length > 0 ? undefined : rows.letGo(slice))),
    closeIdleGaps: async (idle) => rows.transaction(() => rows.closeGaps(idle)),
  };
}

/** The store of a database, with its single rows. */
export type DaemonStore = Store & RowStore;

/** Asks for runs that have not begun only where there may be one. */
function dueRunRows(
  runs: Pick<RunStore, "insertRun" | "dueRuns">,
  queue: WorkQueue,
): Pick<RunStore, "insertRun" | "dueRuns"> {
  return {
    insertRun: (run, atMs) => {
      const isNew = runs.insertRun(run, atMs);
      if (isNew) queue.mayHaveDueRuns = true;
      return isNew;
    },
    dueRuns: (limit) => {
      if (!queue.mayHaveDueRuns) return [];
      const due = runs.dueRuns(limit);
      queue.mayHaveDueRuns = due.length > 0;
      return due;
    },
  };
}
