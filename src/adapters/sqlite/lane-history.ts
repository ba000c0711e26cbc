import type { AttemptHistory, HaltHistory, IntentHistory } from "../../ports/history.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { OPEN_INTENTS } from "./index-conditions.ts";
import { hasColumn, prepareStatements } from "./statements.ts";

/**
 * Reads the transactions of a database for people: the open ones, and the newest of the others up to a number; and the
 * accounts that are halted. A database that no daemon has used yet has neither.
 */
export function readLaneHistory(
  db: SqliteDatabase,
  limit: number,
): { readonly intents: readonly IntentHistory[]; readonly halts: readonly HaltHistory[] } {
  if (!hasTable(db, "lane_intents")) return { intents: [], halts: [] };
  const cancelRequest = hasTable(db, "lane_cancel_wishes")
    ? "(SELECT wished_by FROM lane_cancel_wishes WHERE intent_id = lane_intents.id)"
    : "NULL";
  const columns = `id, account, purpose, state, outcome, nonce, to_address AS "to", value,
    max_fee_per_gas_cap AS maxFeePerGasCap, created_at_ms AS createdAtMs, mined_block_number AS minedBlockNumber,
    ${cancelRequest} AS cancelledBy`;
  const intents = db
    .prepare<[number], Omit<IntentHistory, "attempts">>(
      // Each by itself: joined by OR, all that ever were are read, with their data.
      `SELECT ${columns} FROM lane_intents WHERE seq IN (
         SELECT seq FROM lane_intents WHERE ${OPEN_INTENTS} UNION ALL SELECT seq FROM (
           SELECT seq FROM lane_intents WHERE state IN ('final', 'dropped') ORDER BY seq DESC LIMIT ?)
       ) ORDER BY seq DESC`,
    )
    .all(limit);
  const visibility = hasColumn(prepareStatements(db), "lane_attempts", "visibility") ? "visibility" : "'public'";
  const attempts = db.prepare<[string], AttemptHistory>(
    `SELECT hash, kind, ${visibility} AS visibility, state, max_fee_per_gas AS maxFeePerGas, max_priority_fee_per_gas AS maxPriorityFeePerGas,
       signed_at_ms AS signedAtMs FROM lane_attempts WHERE intent_id = ? ORDER BY seq`,
  );
  const halts = db
    .prepare<[], HaltHistory>(
      "SELECT account, reason, at_ms AS atMs FROM lane_halts WHERE released_at_ms IS NULL ORDER BY account",
    )
    .all();
  return { intents: intents.map((intent) => ({ ...intent, attempts: attempts.all(intent.id) })), halts };
}

function hasTable(db: SqliteDatabase, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}
