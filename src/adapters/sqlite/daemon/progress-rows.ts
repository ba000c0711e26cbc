import type { SqliteDatabase } from "../../../storage/database.ts";
import { OPEN_RUNS, UNSETTLED_SWAPS } from "../index-conditions.ts";
import { hasColumn, hasTable, prepareStatements } from "../statements.ts";

/** Work that is late, by the id of its row. Both questions read open rows alone, however long the history is. */
export interface ProgressReader {
  /** The run that should have ended first: its window was over before an instant, and nothing of it was cleared to be signed. */
  overdueRun(windowBeforeMs: number): string | undefined;
  /** The effect that should have been performed first: it was due before an instant. */
  overdueEffect(dueBeforeMs: number): string | undefined;
  /** What the rows do not know of the chain and halts wallets or strategies: what needs a person first. */
  openDifference(): { readonly text: string; readonly foundAtMs: number } | undefined;
  /** Signers elsewhere that do not sign, by the alerts that are open about them. */
  signersAway(): readonly { readonly subject: string; readonly text: string; readonly sinceMs: number }[];
  /** How many runs wait for a person's approval. */
  waitingForApproval(): number;
  /** Since when the oldest unknown swap is so, and the time of the newest block with a fill. */
  figures(): { readonly unknownSinceMs: number | undefined; readonly lastFillMs: number | undefined };
  /** modes that are not `active`, by scope */
  modes(): readonly { readonly scope: string; readonly mode: string }[];
}

/**
 * The first condition is that of the index on open runs. A swap beyond `quoted` waits for the chain, or for a person. One that
 * is held back has a window of its own, and so have later ones of a run.
 */
const OVERDUE_RUN = `SELECT id FROM runs WHERE ${OPEN_RUNS}
  AND state <> 'parked' AND window_ends_ms < ?
  AND NOT EXISTS (SELECT 1 FROM swaps WHERE run_id = runs.id AND state IN
    ('cleared', 'approving', 'signed', 'submitted', 'mined', 'confirmed', 'unknown'))
  AND NOT EXISTS (SELECT 1 FROM swaps WHERE run_id = runs.id AND json_extract(body, '$.windowEndsMs') >= ?)
  ORDER BY window_ends_ms LIMIT 1`;

const WAITING_FOR_APPROVAL = `SELECT count(*) AS runs FROM runs WHERE ${OPEN_RUNS}
  AND EXISTS (SELECT 1 FROM holds WHERE run_id = runs.id AND kind = 'approval' AND decision IS NULL)`;

const UNKNOWN_SINCE = `SELECT min((SELECT at_ms FROM transitions
    WHERE subject_id = swaps.id AND to_state = 'unknown' ORDER BY id DESC LIMIT 1)) AS ms
  FROM swaps WHERE ${UNSETTLED_SWAPS} AND state = 'unknown'`;

const SIGNERS_AWAY = `SELECT subject, text, raised_at_ms AS sinceMs FROM alerts
  WHERE over_at_ms IS NULL AND code = 'SIGNER_AWAY' ORDER BY number`;

const LAST_FILL = `SELECT block_time_seconds * 1000 AS ms FROM swaps
  WHERE block_number IS NOT NULL ORDER BY block_number DESC LIMIT 1`;

/** Opens the questions on an open database. */
export function createProgressReader(db: SqliteDatabase): ProgressReader {
  const sql = prepareStatements(db);
  return {
    overdueRun: (windowBeforeMs) => sql.get<{ id: string }>(OVERDUE_RUN, windowBeforeMs, windowBeforeMs)?.id,
    overdueEffect: (dueBeforeMs) => {
      const row = sql.get<{ id: number; run: string; effect: string }>(
        `SELECT id, run_id AS run, kind AS effect FROM effects
         WHERE not_before_ms < ? ORDER BY not_before_ms LIMIT 1`,
        dueBeforeMs,
      );
      return row === undefined ? undefined : `${row.id} (${row.effect} of ${row.run})`;
    },
    openDifference: () =>
      sql.get(
        `SELECT text, found_at_ms AS foundAtMs FROM differences WHERE settled_at_ms IS NULL
         ORDER BY kind = 'unchecked', id LIMIT 1`,
      ),
    signersAway: () => (hasTable(sql, "alerts") ? sql.all(SIGNERS_AWAY) : []),
    waitingForApproval: () =>
      hasTable(sql, "holds") ? (sql.get<{ runs: number }>(WAITING_FOR_APPROVAL)?.runs ?? 0) : 0,
    figures: () => ({
      unknownSinceMs: sql.get<{ ms: number | null }>(UNKNOWN_SINCE)?.ms ?? undefined,
      // A database that no daemon of this release has opened yet may know no times of blocks.
      lastFillMs: hasColumn(sql, "swaps", "block_time_seconds")
        ? (sql.get<{ ms: number | null }>(LAST_FILL)?.ms ?? undefined)
        : undefined,
    }),
    modes: () => sql.all("SELECT scope, mode FROM modes WHERE mode <> 'active' ORDER BY scope"),
  };
}
