import type { RunHistory } from "../../../ports/history.ts";
import type { ReadModel, RunDetails, StandingRows, StatusQuestion } from "../../../ports/read-model.ts";
import type { UntakenFiles } from "../../../ports/untaken-files.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { readLaneHistory } from "../lane-history.ts";
import { readPaperHoldings } from "../paper/paper-rows.ts";
import { hasTable, prepareStatements } from "../statements.ts";
import { createApprovalReader } from "./approval-rows.ts";
import { createArchiveReader } from "./archive-reader.ts";
import { readBookRows } from "./book-rows.ts";
import { readFills } from "./fill-rows.ts";
import { checkHistory, readHead } from "./history-chain.ts";
import { createHistoryReader, type HistoryReader } from "./history-rows.ts";
import { readKeeping } from "./keeping-rows.ts";
import { readOpenRights } from "./open-right-rows.ts";
import { createProgressReader } from "./progress-rows.ts";
import type { RowStore } from "./row-store.ts";
import { isMigrated } from "./schema.ts";
import { createStore } from "./store.ts";

/** The mode with which the life that runs began; undefined where it wrote that it stopped. */
export function readStartedMode(db: SqliteDatabase): string | undefined {
  return createHistoryReader(db).startedMode();
}

/** What people read, on a database that is open for reading. */
export function createReadModel(db: SqliteDatabase): ReadModel {
  const sql = prepareStatements(db);
  const history = createHistoryReader(db);
  const archives = createArchiveReader(sql);
  const progress = createProgressReader(db);
  // Everything that an answer is put together from is read as of one instant.
  const together = <T>(read: () => T): T => db.transaction(read)();
  return {
    runs: async (filter) => history.runs(filter),
    run: async (id) =>
      together(() => {
        const run = history.run(id) ?? history.runOfSwap(id);
        return run === undefined ? undefined : detailsOf(history, run);
      }),
    slotBefore: async ({ strategy, atMs }) =>
      together(() => {
        const run = history.runAt(strategy, atMs);
        return {
          strategies: history.strategies().map(({ id }) => id),
          run: run === undefined ? undefined : detailsOf(history, run),
          gap: history.gapAt(strategy, atMs),
          alerts: history.trueAlerts(),
        };
      }),
    storedRun: async (id) =>
      together(() => ({ stored: history.storedRun(id), isThere: history.run(id) !== undefined })),
    status: async (asked) => together(() => readStatus(db, history, asked)),
    counts: async () =>
      together(() => ({
        swaps: history.swapStates(),
        strategies: history.strategies(),
        wallets: history.wallets(),
        waitingForApproval: progress.waitingForApproval(),
        ...progress.figures(),
      })),
    progress: async ({ windowBeforeMs, dueBeforeMs }) =>
      together(() => ({
        overdueRun: progress.overdueRun(windowBeforeMs),
        overdueEffect: progress.overdueEffect(dueBeforeMs),
        openDifference: progress.openDifference(),
        signersAway: progress.signersAway(),
        modes: progress.modes(),
      })),
    approvals: async ({ wallets, tokens }) =>
      together(() => {
        const reader = createApprovalReader(db);
        const using = wallets.flatMap((wallet) => tokens.flatMap((token) => reader.swapUsing(wallet, token) ?? []));
        return { spenders: reader.spenders(), using };
      }),
    transactions: async (limit) => together(() => ({ ...readLaneHistory(db, limit), rights: readOpenRights(sql) })),
    fills: (limit) => readFills(sql, archives, limit),
    books: async () => together(() => readBookRows(sql)),
    paper: async () => together(() => readPaperHoldings(db)),
    historyChain: async ({ isChecked, going }) =>
      together(() => ({
        head: hasTable(sql, "history_head") ? readHead(sql) : undefined,
        problems: isChecked ? checkHistory(sql) : [],
        keeping: going === undefined ? undefined : readKeeping(sql, going),
      })),
  };
}

function detailsOf(history: HistoryReader, run: RunHistory): RunDetails {
  const ids = run.swaps.map(({ id }) => id);
  return {
    run,
    transitions: history.transitions([run.id, ...ids]),
    checks: ids.map((swap) => ({ swap, checks: history.checks(swap) })),
    retries: history.retries(run.id),
  };
}

function readStatus(db: SqliteDatabase, history: HistoryReader, asked: StatusQuestion) {
  const strategies = history.strategies();
  const ids = new Set([...strategies.map(({ id }) => id), ...asked.strategyIds]);
  return {
    strategies,
    swaps: history.swapStates(),
    modes: history.modes(),
    halts: history.halts(),
    unsentAlerts: history.unsentAlerts(),
    channels: history.channels(),
    trueAlerts: history.trueAlerts(),
    openAlerts: history.openAlerts(),
    alertCounts: history.alertCounts(),
    gaps: history.gaps(),
    lastClockJump: history.lastClockJump(),
    startedMode: history.startedMode(),
    lastEvent: history.lastEvent(),
    standing: isMigrated(db) ? readStanding(db, [...ids], asked) : undefined,
  };
}

/** Alerts that are open while edited files are not in force: what they say applies later, if at all. */
const UNTAKEN: ReadonlySet<string> = new Set(["CONFIGURATION_REFUSED", "RESTART_NEEDED"]);

/** The editions that were loaded last, of the strategies whose files were there then. */
function readUntaken(db: SqliteDatabase, rows: RowStore): UntakenFiles | undefined {
  const sql = prepareStatements(db);
  const open = sql
    .all<{ code: string; sinceMs: number }>("SELECT code, raised_at_ms AS sinceMs FROM alerts WHERE over_at_ms IS NULL")
    .find(({ code }) => UNTAKEN.has(code));
  if (open === undefined) return undefined;
  const there = sql.all<{ id: string }>("SELECT id FROM strategies WHERE is_gone = 0");
  const editions = there.map(({ id }) => [id, rows.strategy(id)?.spec] as const);
  return { ...open, inForce: new Map(editions.flatMap(([id, spec]) => (spec === undefined ? [] : [[id, spec]]))) };
}

function readStanding(db: SqliteDatabase, strategyIds: readonly string[], asked: StatusQuestion): StandingRows {
  const rows: RowStore = createStore(db);
  const differences = rows.openDifferences();
  // Only what is open asks for an edition: by its tokens a strategy is halted.
  const specs = differences.length === 0 ? [] : strategyIds.map((id) => [id, rows.strategy(id)?.spec] as const);
  const known = asked.wallets.map((wallet) => [wallet, rows.knownChain(wallet)] as const);
  return {
    lastSlots: rows.lastSlots(strategyIds),
    endedAhead: rows.endedAhead(strategyIds),
    sold: new Map(strategyIds.map((id) => [id, rows.soldBy(id)])),
    modes: rows.modes(),
    differences,
    specs: new Map(specs.flatMap(([id, spec]) => (spec === undefined ? [] : [[id, spec] as const]))),
    soldUsd: { day: rows.soldUsdSince(asked.daySinceMs, ""), month: rows.soldUsdSince(asked.monthSinceMs, "") },
    soldSince: new Map(
      asked.budgets.map(({ strategyId, soldSinceMs }) => [
        strategyId,
        soldSinceMs.map((sinceMs) => rows.soldBySince(strategyId, sinceMs)),
      ]),
    ),
    known: new Map(known.flatMap(([wallet, chain]) => (chain === undefined ? [] : [[wallet, chain] as const]))),
    lastAliveMs: rows.lastAliveMs(),
    untaken: readUntaken(db, rows),
  };
}
