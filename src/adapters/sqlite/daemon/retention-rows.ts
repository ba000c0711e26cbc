import type { RefusedRun, RetentionPlace, RetentionSlice } from "../../../ports/retention-store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { inTransaction } from "../../../storage/transaction.ts";
import { rowMemoryOf } from "../row-memory.ts";
import type { Statements } from "../statements.ts";
import { ArchiveError } from "./archive-reader.ts";
import { writeArchive } from "./archive-rows.ts";
import { closeGaps } from "./history-chain.ts";
import type { RetentionRows } from "./row-store.ts";
import type { RunMemory } from "./run-memory.ts";

/** So many runs are read in one turn at most: each of them may be one that has to stay. */
const MOST_CHECKED = 64;

const UNSIGNED_ENDS: ReadonlySet<string> = new Set(["skipped", "denied"]);
const ENDS: ReadonlySet<string> = new Set([...UNSIGNED_ENDS, "final", "reverted", "expired", "cancelled"]);

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
  "DELETE FROM holds WHERE run_id = ?",
  "DELETE FROM steps WHERE run_id = ?",
  "DELETE FROM barred_runs WHERE run_id = ?",
  "DELETE FROM swaps WHERE run_id = ?",
  "DELETE FROM runs WHERE id = ?",
];

/** Rows of old runs, as they go. */
export function createRetentionRows(
  sql: Statements,
  db: SqliteDatabase,
  memory: Pick<RunMemory, "forget">,
): RetentionRows {
  const lanes = rowMemoryOf(db, "lanes");
  return {
    letGo: (slice) => {
      const runs = oldRuns(sql, slice);
      const went = { pruned: 0, archived: 0, refused: [] as RefusedRun[] };
      for (const [index, run] of runs.entries()) {
        lanes.forget();
        memory.forget(run.id);
        const how = letGoOrRefuse(() => inTransaction(db, () => letGo(sql, run, slice)));
        if (typeof how === "object") went.refused.push({ runId: run.id, why: how.message });
        else if (how !== undefined) went[how] += 1;
        const isLast = index === runs.length - 1;
        if (!isLast && !slice.mayGoOn()) return { ...went, last: placeOf(run) };
      }
      const last = runs.length < MOST_CHECKED ? undefined : runs.at(-1);
      return { ...went, last: last && placeOf(last) };
    },
    closeGaps: (idle) => {
      const closed = letGoOrRefuse(() => inTransaction(db, () => closeGaps(sql, idle)));
      return typeof closed === "number" ? { closed, refused: undefined } : { closed: 0, refused: closed.message };
    },
  };
}

/** What the database's own rules refuse, and what another program made unreadable: it concerns that run alone. */
const REFUSAL = /^(?:SQLITE_CONSTRAINT|Z_)/;

function letGoOrRefuse<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    const isRefusal = error instanceof Error && "code" in error && REFUSAL.test(String(error.code));
    if (isRefusal || error instanceof ArchiveError) return error;
    throw error;
  }
}

/** @returns what became of the run; undefined where it stays as it is */
function letGo(sql: Statements, run: OldRun, slice: RetentionSlice): "pruned" | "archived" | undefined {
  if (sql.get("SELECT 1 FROM effects WHERE run_id = ?", run.id) !== undefined) return undefined;
  const swaps = sql.all<OldSwap>("SELECT id, state FROM swaps WHERE run_id = ? ORDER BY position, attempt", run.id);
  if (!swaps.every(({ state }) => ENDS.has(state))) return undefined;
  const intents = swaps.flatMap(({ id }) => intentsOf(sql, id));
  if (intents.length === 0 && isUnsigned(sql, { run, swaps })) {
    const before = gapBefore(sql, run);
    // An extra run may lie within slots that got none: a gap of its own would lie in that one.
    if (before !== undefined && before.last_slot_ms >= run.slot_ms) return undefined;
    prune(sql, run, { swaps, before, nowMs: slice.nowMs });
    return "pruned";
  }
  const beforeMs = slice.signedBeforeMs;
  if (newestInstant(sql, run) >= beforeMs || !isSettled(sql, run, { intents, beforeMs })) return undefined;
  const { id, strategy } = run;
  writeArchive(sql, { id, strategy, swaps: swaps.map((swap) => swap.id), intents });
  return "archived";
}

/** A clock that was far behind may have written the end: nothing is older than its slot. */
function oldRuns(sql: Statements, { after, unsignedBeforeMs }: RetentionSlice): readonly OldRun[] {
  return sql.all<OldRun>(
    `SELECT id, strategy, slot_ms, state, reason, ended_at_ms FROM runs
     WHERE ended_at_ms IS NOT NULL AND archive IS NULL AND (ended_at_ms, id) > (?, ?) AND ended_at_ms < ?
       AND slot_ms < ?
     ORDER BY ended_at_ms, id LIMIT ${MOST_CHECKED}`,
    after?.endedAtMs ?? 0,
    after?.runId ?? "",
    unsignedBeforeMs,
    unsignedBeforeMs,
  );
}

function placeOf({ ended_at_ms: endedAtMs, id: runId }: OldRun): RetentionPlace {
  return { endedAtMs, runId };
}

/** Transactions are named after their swap, with a point behind it; `/` is the letter that follows the point. */
function intentsOf(sql: Statements, swapId: string): readonly string[] {
  const named = "SELECT id FROM lane_intents WHERE id > ? AND id < ? ORDER BY id";
  return sql.column<string>(named, `${swapId}.`, `${swapId}/`);
}

/** A right is given, and an approval begun, before anything is signed. */
function isUnsigned(
  sql: Statements,
  { run, swaps }: { readonly run: OldRun; readonly swaps: readonly OldSwap[] },
): boolean {
  const signed = `SELECT 1 FROM swaps WHERE run_id = ? AND (
    EXISTS (SELECT 1 FROM capabilities WHERE swap_id = swaps.id) OR EXISTS (SELECT 1 FROM signatures WHERE swap_id = swaps.id))`;
  const isVain = run.state === "skipped" || run.state === "failed";
  return isVain && swaps.every(({ state }) => UNSIGNED_ENDS.has(state)) && sql.get(signed, run.id) === undefined;
}

/** When anything of a run was written last, and its slot at the least: what was final late may count late. */
function newestInstant(sql: Statements, run: OldRun): number {
  const last = sql.get<{ written: number | null; settled: number | null }>(
    `SELECT max(updated_at_ms) AS written, max(settled_at_ms) AS settled FROM swaps
     LEFT JOIN ledger ON swap_id = swaps.id WHERE run_id = ?`,
    run.id,
  );
  return Math.max(run.ended_at_ms, run.slot_ms, last?.written ?? 0, last?.settled ?? 0);
}

/**
 * Whether everything that was signed for a run is over since before an instant. What the daemon reads the newest of stays
 * where it reads it: the last transaction of an account, and the last right to a token for each contract.
 */
function isSettled(
  sql: Statements,
  { id }: OldRun,
  { intents, beforeMs }: { readonly intents: readonly string[]; readonly beforeMs: number },
): boolean {
  const beforeSeconds = Math.floor(beforeMs / 1_000);
  return (
    sql.get("SELECT 1 FROM swaps WHERE run_id = ? AND deadline_seconds >= ?", id, beforeSeconds) === undefined &&
    sql.get(RIGHT_THAT_STAYS, id, beforeSeconds) === undefined &&
    sql.get(UNEXPIRED_SIGNATURE, id, beforeSeconds) === undefined &&
    intents.every((intent) => sql.get(INTENT_THAT_STAYS, intent, beforeSeconds) === undefined)
  );
}

const RIGHT_THAT_STAYS = `SELECT 1 FROM swaps JOIN capabilities AS held ON held.swap_id = swaps.id
  WHERE run_id = ? AND (live = 1 OR until_seconds >= ? OR NOT EXISTS (
    SELECT 1 FROM capabilities WHERE token = held.token AND wallet = held.wallet AND live = 0
      AND capabilities.rowid > held.rowid AND spender = held.spender))`;

const UNEXPIRED_SIGNATURE = `SELECT 1 FROM swaps JOIN signatures ON swap_id = swaps.id
  WHERE run_id = ? AND valid_until_seconds >= ?`;

const INTENT_THAT_STAYS = `SELECT 1 FROM lane_intents AS one WHERE id = ? AND (
    state NOT IN ('final', 'dropped') OR deadline_seconds >= ?
    OR (nonce IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM lane_intents WHERE account = one.account AND chain_id = one.chain_id AND nonce > one.nonce))
    OR (mined_block_number IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM lane_intents
      WHERE account = one.account AND mined_block_number >= one.mined_block_number AND nonce > one.nonce)))`;

/** The gap of a strategy that began last. */
interface GapBefore {
  readonly id: number;
  readonly last_slot_ms: number;
  readonly state: string | null;
  readonly reason: string;
  readonly closed: number | null;
}

function gapBefore(sql: Statements, { strategy, slot_ms }: OldRun): GapBefore | undefined {
  return sql.get<GapBefore>(
    `SELECT id, last_slot_ms, state, reason, closed FROM gaps WHERE strategy = ? AND first_slot_ms <= ?
     ORDER BY first_slot_ms DESC LIMIT 1`,
    strategy,
    slot_ms,
  );
}

interface PrunedEnd {
  readonly swaps: readonly OldSwap[];
  readonly before: GapBefore | undefined;
  readonly nowMs: number;
}

function prune(sql: Statements, run: OldRun, end: PrunedEnd): void {
  sql.run("INSERT INTO leaving (run_id) VALUES (?)", run.id);
  for (const rows of ROWS_OF_RUN) sql.run(rows, run.id);
  sql.run("DELETE FROM leaving WHERE run_id = ?", run.id);
  addEnd(sql, run, end);
}

/** Joins the strategy's last gap before the slot where that is of equal ends, and neither a run nor a gap lies between. */
function addEnd(sql: Statements, run: OldRun, { swaps, before, nowMs }: PrunedEnd): void {
  const reason = run.reason ?? run.state;
  const skipped = swaps.filter(({ state }) => state === "skipped").length;
  const denied = swaps.length - skipped;
  const isJoined =
    before?.state === run.state &&
    before.reason === reason &&
    before.closed === null &&
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
      ...[run.slot_ms, nowMs, skipped, denied, before.id],
    );
    return;
  }
  sql.run(
    `INSERT INTO gaps (strategy, first_slot_ms, last_slot_ms, count, reason, recorded_at_ms, state, skipped_swaps, denied_swaps)
     VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)`,
    ...[run.strategy, run.slot_ms, run.slot_ms, reason, nowMs, run.state, skipped, denied],
  );
}
