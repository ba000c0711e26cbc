import type { RunRecord } from "../../../domain/run/records.ts";
import type { RetryHistory } from "../../../ports/history.ts";
import { hasTable, type Statements } from "../statements.ts";

/** Details come from services and nodes: a row holds no more of them than this. */
const LONGEST_DETAIL = 2_000;

/** Writes down why a run asks again: one more of the last line's reason, or a new line. */
export function writeRetry(
  sql: Statements,
  runId: string,
  record: Extract<RunRecord, { kind: "retry" }>,
  atMs: number,
): void {
  const { reason } = record;
  const swapId = record.about ?? null;
  const detail = record.detail.slice(0, LONGEST_DETAIL);
  const nextAtMs = Math.ceil(record.nextMs);
  const joined = sql.run(
    `UPDATE retries SET count = count + 1, detail = ?, last_at_ms = ?, next_at_ms = ?
     WHERE id = (SELECT max(id) FROM retries WHERE run_id = ?) AND swap_id IS ? AND reason = ?`,
    detail,
    atMs,
    nextAtMs,
    runId,
    swapId,
    reason,
  );
  if (joined > 0) return;
  sql.run(
    `INSERT INTO retries (run_id, swap_id, reason, detail, count, first_at_ms, last_at_ms, next_at_ms)
     VALUES (?, ?, ?, ?, 1, ?, ?, ?)`,
    runId,
    swapId,
    reason,
    detail,
    atMs,
    atMs,
    nextAtMs,
  );
}

/** A run's retries, oldest first. A database that no daemon of this release has opened yet has no such table. */
export function readRetries(sql: Statements, runId: string): readonly RetryHistory[] {
  if (!hasTable(sql, "retries")) return [];
  return sql.all<StoredRetry>("SELECT * FROM retries WHERE run_id = ? ORDER BY id", runId).map(decodeRetry);
}

/** A row of `retries`. */
export interface StoredRetry {
  readonly swap_id: string | null;
  readonly reason: string;
  readonly detail: string;
  readonly count: number;
  readonly first_at_ms: number;
  readonly last_at_ms: number;
  readonly next_at_ms: number;
}

/** As people read it. */
export function decodeRetry(row: StoredRetry): RetryHistory {
  const { swap_id: swapId, reason, detail, count } = row;
  return {
    ...{ swapId, reason, detail, count },
    ...{ firstAtMs: row.first_at_ms, lastAtMs: row.last_at_ms, nextAtMs: row.next_at_ms },
  };
}
