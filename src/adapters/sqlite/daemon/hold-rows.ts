import type { Hold, HoldAnswer } from "../../../domain/run/hold.ts";
import type { Statements } from "../statements.ts";
import type { RowStore } from "./row-store.ts";

/** Rows of runs that wait for a person. */
export function createHoldRows(sql: Statements): Pick<RowStore, "holds" | "answerHolds"> {
  return {
    holds: (runId) => rowsOf(sql, runId),
    answerHolds: (runId, { decision, by, atMs }) => {
      sql.run(
        "UPDATE holds SET decision = ?, decided_by = ?, decided_at_ms = ? WHERE run_id = ? AND decision IS NULL",
        decision,
        by,
        atMs,
        runId,
      );
    },
  };
}

/** Writes down that a run waits. */
export function writeHold(sql: Statements, runId: string, hold: Hold, atMs: number): void {
  sql.run(
    "INSERT INTO holds (run_id, kind, swap_id, since_ms, until_ms, window_ends_ms) VALUES (?, ?, ?, ?, ?, ?)",
    runId,
    hold.kind,
    hold.swapId,
    atMs,
    Math.ceil(hold.untilMs),
    Math.ceil(hold.windowEndsMs),
  );
}

/** Of an announcement that nobody has answered, and that is still true, what becomes of it by the channels that send it. */
const SENDING = `FROM alert_deliveries AS sending JOIN alerts ON alerts.number = sending.alert
  WHERE alerts.subject = 'wait of ' || holds.run_id AND alerts.code = 'SWAP_ANNOUNCED' AND alerts.over_at_ms IS NULL
    AND sending.tells = 'begin' AND holds.kind = 'announcement' AND holds.decision IS NULL`;

/**
 * So much later than it was made, in milliseconds, the first of them took it: as much later it ends. What none has taken by
 * the end of its window ends then, so that more than that is the word of a clock that was ahead.
 */
export const TOLD_LATE_MS = `min(holds.window_ends_ms - holds.since_ms, max(0, coalesce(
  (SELECT min(sending.finished_at_ms) ${SENDING} AND sending.state = 'sent') - holds.since_ms, 0)))`;

const UNTOLD = `(SELECT count(*) > 0 AND sum(sending.state = 'sent') = 0 ${SENDING})`;

const OF_RUN = `SELECT *, ${TOLD_LATE_MS} AS late_ms, ${UNTOLD} AS untold FROM holds WHERE run_id = ? ORDER BY kind`;

function rowsOf(sql: Statements, runId: string): readonly Hold[] {
  return sql.all<StoredHold>(OF_RUN, runId).map(decodeHold);
}

interface StoredHold {
  readonly kind: Hold["kind"];
  readonly swap_id: string;
  readonly until_ms: number;
  readonly window_ends_ms: number;
  readonly late_ms: number;
  readonly untold: number;
  readonly decision: HoldAnswer["decision"] | null;
  readonly decided_by: string | null;
  readonly decided_at_ms: number | null;
}

function decodeHold(row: StoredHold): Hold {
  const { kind, swap_id: swapId, decision } = row;
  const [untilMs, windowEndsMs] = [row.until_ms + row.late_ms, row.window_ends_ms + row.late_ms];
  const told = row.untold > 0 ? "never" : row.late_ms > 0 ? "late" : undefined;
  const answer =
    decision === null ? undefined : { decision, by: row.decided_by ?? "", atMs: row.decided_at_ms ?? untilMs };
  return { kind, swapId, untilMs, windowEndsMs, ...(told !== undefined && { told }), answer };
}
