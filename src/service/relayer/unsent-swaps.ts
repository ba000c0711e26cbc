import type { Clock } from "../../ports/clock.ts";
import type { LaneRowStore } from "../../ports/lane-row-store.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { giveBackPages } from "../store/file-size.ts";

/** A swap that was accepted and never signed is reported for so long after its deadline. */
const KEPT_AFTER_DEADLINE_SECONDS = 7 * 86_400;

/** They go a few at a time, between two turns of the lane: nothing waits for all of them. */
const SWAPS_OF_A_SLICE = 100;
const SLICE_EVERY_MS = 1_000;

/** A row's place in the order in which they are read. */
interface Place {
  readonly deadlineSeconds: number;
  readonly row: number;
}

const START: Place = { deadlineSeconds: 0, row: 0 };

interface Unsent extends Place {
  readonly id: string;
  readonly quoteId: string;
  readonly intentId: string;
}

/**
 * Lets swaps of all networks go that nothing was ever signed for, with their quotes and all that was written of them:
 * handing them over costs a stranger nothing, and each takes kilobytes. What cost gas or has a signature of ours stays.
 * @returns lets some go, where it is time
 */
export function createUnsentSwaps(
  db: SqliteDatabase,
  {
    rows,
    clock,
  }: { rows: Pick<LaneRowStore, "transaction" | "forgetUnsigned">; clock: Pick<Clock, "nowMs" | "monotonicMs"> },
): () => void {
  const old = db.prepare<Place & { before: number; most: number }, Unsent>(
    `SELECT id, quote_id AS quoteId, intent_id AS intentId, deadline_seconds AS deadlineSeconds, rowid AS row FROM swaps
     WHERE hash IS NULL AND status IN ('error', 'expired') AND deadline_seconds < @before
       AND (deadline_seconds, rowid) > (@deadlineSeconds, @row)
       AND NOT EXISTS (SELECT 1 FROM relay_costs WHERE intent_id = swaps.intent_id)
     ORDER BY deadline_seconds, rowid LIMIT @most`,
  );
  const remove = [
    db.prepare<Unsent>("DELETE FROM swap_transitions WHERE swap_id = @id"),
    db.prepare<Unsent>("DELETE FROM swaps WHERE id = @id"),
    db.prepare<Unsent>("DELETE FROM quotes WHERE id = @quoteId"),
    db.prepare<Unsent>("DELETE FROM relays WHERE intent_id = @intentId"),
  ];
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  let last = START;
  return () => {
    if (clock.monotonicMs() - prunedAtMs < SLICE_EVERY_MS) return;
    prunedAtMs = clock.monotonicMs();
    const before = Math.floor(clock.nowMs() / 1_000) - KEPT_AFTER_DEADLINE_SECONDS;
    const slice = old.all({ ...last, before, most: SWAPS_OF_A_SLICE });
    // What has to stay delays nothing behind it.
    last = slice.at(SWAPS_OF_A_SLICE - 1) ?? START;
    if (slice.length === 0) return;
    rows.transaction(() => {
      for (const swap of slice) {
        if (rows.forgetUnsigned(swap.intentId)) for (const statement of remove) statement.run(swap);
      }
    });
    giveBackPages(db);
  };
}
