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

function rowsOf(sql: Statements, runId: string): readonly Hold[] {
  return sql.all<StoredHold>("SELECT * FROM holds WHERE run_id = ? ORDER BY kind", runId).map(decodeHold);
}

interface StoredHold {
  readonly kind: Hold["kind"];
  readonly swap_id: string;
  readonly until_ms: number;
  readonly window_ends_ms: number;
  readonly decision: HoldAnswer["decision"] | null;
  readonly decided_by: string | null;
  readonly decided_at_ms: number | null;
}

function decodeHold(row: StoredHold): Hold {
  const { kind, swap_id: swapId, until_ms: untilMs, window_ends_ms: windowEndsMs, decision } = row;
  const answer =
    decision === null ? undefined : { decision, by: row.decided_by ?? "", atMs: row.decided_at_ms ?? untilMs };
  return { kind, swapId, untilMs, windowEndsMs, answer };
}
