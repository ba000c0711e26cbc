import type { Transition } from "../../../domain/run/records.ts";
import type { StoredRun } from "../../../domain/run/replay.ts";
import type { CheckHistory, GapHistory, RetryHistory, RunHistory, TransitionHistory } from "../../../ports/history.ts";
import type { RunPlace } from "../../../ports/listing.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { hasColumn, prepareStatements, type SqlValue, type Statements } from "../statements.ts";
import { type ArchiveReader, createArchiveReader } from "./archive-reader.ts";
import { decodeChecks, readChecks, type StoredChecks } from "./check-rows.ts";
import { readSwaps } from "./history-swaps.ts";
import { decodeRetry, readRetries, type StoredRetry } from "./retry-rows.ts";
import { createRunRows } from "./run-rows.ts";
import { createStatusReader, type StatusReader } from "./status-rows.ts";
import { readSteps } from "./step-rows.ts";

/** Reads what happened, from a database that another process may be writing. */
export interface HistoryReader extends StatusReader {
  runs(filter: {
    readonly strategy?: string | undefined;
    readonly before?: RunPlace | undefined;
    readonly limit: number;
  }): readonly RunHistory[];
  run(id: string): RunHistory | undefined;
  /** the run that a swap belongs to */
  runOfSwap(swapId: string): RunHistory | undefined;
  /** the run of a slot nearest before an instant */
  runAt(strategy: string, atMs: number): RunHistory | undefined;
  transitions(subjectIds: readonly string[]): readonly TransitionHistory[];
  checks(swapId: string): readonly CheckHistory[];
  /** why a run asked again, oldest first */
  retries(runId: string): readonly RetryHistory[];
  gaps(): readonly GapHistory[];
  /** the gap of a strategy that began last before an instant */
  gapAt(strategy: string, atMs: number): GapHistory | undefined;
  /** a run with all that is needed to take its steps again; undefined where these are not kept any more, too */
  storedRun(id: string): StoredRun | undefined;
}

interface RunRow {
  id: string;
  strategy: string;
  slot_ms: number;
  state: string;
  reason: string | null;
  detail: string | null;
  ended_at_ms: number | null;
}

/**
 * Opens the reading side on an open database. A run may be archived meanwhile: all that is shown of it is read at once.
 */
export function createHistoryReader(db: SqliteDatabase): HistoryReader {
  const sql = prepareStatements(db);
  const archives = createArchiveReader(sql);
  const runsWhere = db.transaction((condition: string, ...values: SqlValue[]): readonly RunHistory[] =>
    sql.all<RunRow>(`SELECT * FROM runs WHERE ${condition}`, ...values).map((row) => withSwaps(sql, row, archives)),
  );
  return {
    runs: ({ strategy, before = { slotMs: Number.MAX_SAFE_INTEGER, id: "" }, limit }) => {
      const place = "(slot_ms, id) < (?, ?) ORDER BY slot_ms DESC, id DESC LIMIT ?";
      return strategy === undefined
        ? runsWhere(place, before.slotMs, before.id, limit)
        : runsWhere(`strategy = ? AND ${place}`, strategy, before.slotMs, before.id, limit);
    },
    run: (id) => runsWhere("id = ?", id)[0],
    runOfSwap: (swapId) => runsWhere("id = (SELECT run_id FROM swaps WHERE id = ?)", swapId)[0],
    runAt: (strategy, atMs) =>
      runsWhere("strategy = ? AND slot_ms <= ? ORDER BY slot_ms DESC LIMIT 1", strategy, atMs)[0],
    transitions: db.transaction((subjectIds: readonly string[]) => {
      const archived = archives
        .ofSubjects(subjectIds)
        .flatMap((archive) => archive.rows<StoredTransition>("transitions"));
      const ofThese = archived.filter((row) => subjectIds.includes(row.subject_id)).map(decodeTransition);
      return [...ofThese, ...readTransitions(sql, subjectIds)];
    }),
    storedRun: db.transaction((id: string) => (archives.ofRun(id) === undefined ? readStoredRun(sql, id) : undefined)),
    checks: db.transaction((swapId: string) => {
      const rows = archives.ofSubjects([swapId]).flatMap((archive) => archive.rows<StoredChecks>("checks"));
      const archived = rows.find((row) => row.swap_id === swapId);
      return archived === undefined ? readChecks(sql, swapId) : decodeChecks(archived);
    }),
    gaps: () => sql.all<GapHistory>(`${selectGaps(sql)} ORDER BY first_slot_ms DESC LIMIT 1000`),
    gapAt: (strategy, atMs) =>
      sql.get<GapHistory>(
        `${selectGaps(sql)} WHERE strategy = ? AND first_slot_ms <= ? ORDER BY first_slot_ms DESC LIMIT 1`,
        strategy,
        atMs,
      ),
    retries: db.transaction(
      (runId: string) =>
        archives.ofRun(runId)?.rows<StoredRetry>("retries").map(decodeRetry) ?? readRetries(sql, runId),
    ),
    ...createStatusReader(sql),
  };
}

/** A database that no daemon of this release has opened yet does not show runs that became gaps. */
function selectGaps(sql: Statements): string {
  const state = hasColumn(sql, "gaps", "state") ? "state" : "NULL AS state";
  return `SELECT strategy, first_slot_ms AS firstSlotMs, last_slot_ms AS lastSlotMs, count, reason, ${state} FROM gaps`;
}

/** A row of `transitions`. */
interface StoredTransition {
  readonly subject: string;
  readonly subject_id: string;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly at_ms: number;
}

function readTransitions(sql: Statements, subjectIds: readonly string[]): readonly TransitionHistory[] {
  return sql
    .all<StoredTransition>(
      "SELECT * FROM transitions WHERE subject_id IN (SELECT value FROM json_each(?)) ORDER BY transitions.id",
      JSON.stringify(subjectIds),
    )
    .map(decodeTransition);
}

function decodeTransition(row: StoredTransition): TransitionHistory {
  const { subject, subject_id: id, from_state: from, to_state: to, reason, detail, at_ms: atMs } = row;
  return { subject, id, from, to, reason, detail, atMs };
}

function readStoredRun(sql: Statements, id: string): StoredRun | undefined {
  const run = createRunRows(sql).run(id);
  if (run === undefined) return undefined;
  const [, ...moves] = readTransitions(sql, [run.id, ...run.swaps.map((swap) => swap.id)]);
  const transitions = moves.map(({ subject, id: subjectId, from, to, reason, detail }) => ({
    ...{ subject, subjectId, from: from ?? undefined, to },
    ...{ reason: reason ?? undefined, detail: detail ?? undefined },
  }));
  return { run, transitions: transitions as readonly Transition[], steps: readSteps(sql, id) };
}

function withSwaps(sql: Statements, run: RunRow, archives: ArchiveReader): RunHistory {
  return {
    id: run.id,
    strategy: run.strategy,
    slotMs: run.slot_ms,
    state: run.state,
    reason: run.reason,
    detail: run.detail,
    endedAtMs: run.ended_at_ms,
    swaps: readSwaps(sql, run.id, archives.ofRun(run.id)),
  };
}
