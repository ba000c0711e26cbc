import type { RetentionPlace, RetentionStore, RetentionTurn } from "../../../ports/retention-store.ts";
import type { Statements } from "../statements.ts";

/** So many runs are looked at in one turn at most: each of them may be one that has to stay. */
const MOST_LOOKED_AT = 64;

interface OldRun {
  readonly id: string;
  readonly strategy: string;
  readonly slot_ms: number;
  readonly state: string;
  readonly reason: string | null;
  readonly ended_at_ms: number;
}

interface OldSwap {
  readonly id: string;
  readonly state: string;
}

/** Every row of a run, what refers to others first. */
const ROWS_OF_RUN = [
  "DELETE FROM checks WHERE swap_id IN (SELECT id FROM swaps WHERE run_id = ?)",
  "DELETE FROM ledger WHERE swap_id IN (SELECT id FROM swaps WHERE run_id = ?)",
  "DELETE FROM transitions WHERE subject_id IN (SELECT id FROM swaps WHERE run_id = ?)",
  "DELETE FROM transitions WHERE subject_id = ?",
  "DELETE FROM retries WHERE run_id = ?",
  "DELETE FROM steps WHERE run_id = ?",
  "DELETE FROM barred_runs WHERE run_id = ?",
  "DELETE FROM swaps WHERE run_id = ?",
  "DELETE FROM runs WHERE id = ?",
];

/** Rows of old runs, as they go. */
export function createRetentionRows(sql: Statements): RetentionStore {
  return {
    letGo: (turn) => {
      const runs = oldRuns(sql, turn);
      let pruned = 0;
      for (const [index, run] of runs.entries()) {
        const isLast = index === runs.length - 1;
        if (mayGo(sql, run)) {
          prune(sql, run, turn.nowMs);
          pruned += 1;
        }
        if (!isLast && !turn.mayGoOn()) return { pruned, last: placeOf(run) };
      }
      const last = runs.at(-1);
      return { pruned, last: last === undefined || runs.length < MOST_LOOKED_AT ? undefined : placeOf(last) };
    },
  };
}

function oldRuns(sql: Statements, { after, unsignedBeforeMs }: RetentionTurn): readonly OldRun[] {
  return sql.all<OldRun>(
    `SELECT id, strategy, slot_ms, state, reason, ended_at_ms FROM runs
     WHERE ended_at_ms IS NOT NULL AND (ended_at_ms, id) > (?, ?) AND ended_at_ms < ?
     ORDER BY ended_at_ms, id LIMIT ${MOST_LOOKED_AT}`,
    after?.endedAtMs ?? 0,
    after?.runId ?? "",
    unsignedBeforeMs,
  );
}

function placeOf({ ended_at_ms: endedAtMs, id: runId }: OldRun): RetentionPlace {
  return { endedAtMs, runId };
}

/** Nothing of it was signed or is to be done. A right is given, and an approval begun, before anything is signed. */
function mayGo(sql: Statements, { id }: OldRun): boolean {
  return (
    sql.get(
      `SELECT 1 FROM swaps WHERE run_id = ? AND (state NOT IN ('skipped', 'denied')
         OR EXISTS (SELECT 1 FROM capabilities WHERE swap_id = swaps.id)
         OR EXISTS (SELECT 1 FROM signatures WHERE swap_id = swaps.id)
         OR EXISTS (SELECT 1 FROM lane_intents WHERE id > swaps.id || '.' AND id < swaps.id || '/'))`,
      id,
    ) === undefined && sql.get("SELECT 1 FROM effects WHERE run_id = ?", id) === undefined
  );
}

function prune(sql: Statements, run: OldRun, nowMs: number): void {
  const swaps = sql.all<OldSwap>("SELECT id, state FROM swaps WHERE run_id = ?", run.id);
  sql.run("INSERT INTO leaving (run_id) VALUES (?)", run.id);
  for (const rows of ROWS_OF_RUN) sql.run(rows, run.id);
  sql.run("DELETE FROM leaving WHERE run_id = ?", run.id);
  addEnd(sql, run, { swaps, nowMs });
}

/** Joins the strategy's last gap before the slot where that is of equal ends, and neither a run nor a gap lies between. */
function addEnd(
  sql: Statements,
  run: OldRun,
  end: { readonly swaps: readonly OldSwap[]; readonly nowMs: number },
): void {
  const reason = run.reason ?? run.state;
  const skipped = end.swaps.filter(({ state }) => state === "skipped").length;
  const denied = end.swaps.length - skipped;
  const before = sql.get<{ id: number; last_slot_ms: number; state: string | null; reason: string }>(
    `SELECT id, last_slot_ms, state, reason FROM gaps WHERE strategy = ? AND first_slot_ms < ?
     ORDER BY first_slot_ms DESC LIMIT 1`,
    run.strategy,
    run.slot_ms,
  );
  const isJoined =
    before?.state === run.state &&
    before.reason === reason &&
    sql.get(
      "SELECT 1 FROM runs WHERE strategy = ? AND slot_ms > ? AND slot_ms < ? LIMIT 1",
      run.strategy,
      before.last_slot_ms,
      run.slot_ms,
    ) === undefined;
  if (isJoined) {
    sql.run(
      `UPDATE gaps SET last_slot_ms = ?, count = count + 1, recorded_at_ms = ?,
         skipped_swaps = skipped_swaps + ?, denied_swaps = denied_swaps + ? WHERE id = ?`,
      ...[run.slot_ms, end.nowMs, skipped, denied, before.id],
    );
    return;
  }
  sql.run(
    `INSERT INTO gaps (strategy, first_slot_ms, last_slot_ms, count, reason, recorded_at_ms, state, skipped_swaps, denied_swaps)
     VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)`,
    ...[run.strategy, run.slot_ms, run.slot_ms, reason, end.nowMs, run.state, skipped, denied],
  );
}
