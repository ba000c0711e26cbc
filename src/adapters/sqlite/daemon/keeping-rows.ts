import type { Keeping, KeepingQuestion, KeptRuns } from "../../../ports/keeping.ts";
import { hasColumn, type Statements } from "../statements.ts";

/** As retention tells them apart (`isUnsigned` in retention-rows.ts). */
const SIGNED = `(runs.state NOT IN ('skipped', 'failed') OR EXISTS (SELECT 1 FROM swaps WHERE run_id = runs.id AND (
  state NOT IN ('skipped', 'denied') OR EXISTS (SELECT 1 FROM capabilities WHERE swap_id = swaps.id)
  OR EXISTS (SELECT 1 FROM signatures WHERE swap_id = swaps.id))))`;

/** What is kept of runs that are over, and what goes next. */
export function readKeeping(sql: Statements, asked: KeepingQuestion): Keeping {
  const made = sql.get<{ atMs: number }>("SELECT created_at_ms AS atMs FROM identity WHERE one = 1");
  return {
    madeAtMs: made?.atMs,
    unsigned: readRuns(sql, `NOT ${SIGNED}`, asked.unsignedBeforeMs),
    signed: readRuns(sql, SIGNED, asked.signedBeforeMs),
  };
}

function readRuns(sql: Statements, which: string, beforeMs: number): KeptRuns {
  const isKept = hasColumn(sql, "runs", "archive") ? "archive IS NULL" : "1";
  const row = sql.get<{ count: number; old: number; next: number | null }>(
    `SELECT count(*) AS count, count(*) FILTER (WHERE endedAtMs < :before) AS old,
       min(endedAtMs) FILTER (WHERE endedAtMs >= :before) AS next
     FROM (SELECT max(ended_at_ms, slot_ms) AS endedAtMs FROM runs
       WHERE ended_at_ms IS NOT NULL AND ${isKept} AND ${which})`.replaceAll(":before", String(Math.trunc(beforeMs))),
  );
  return { count: row?.count ?? 0, old: row?.old ?? 0, nextEndedAtMs: row?.next ?? undefined };
}
