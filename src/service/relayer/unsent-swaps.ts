import type { Clock } from "../../ports/clock.ts";
import type { LaneStore } from "../../ports/lane-store.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { giveBackPages } from "../store/file-size.ts";

/** A swap that was accepted and never signed is told for so long after its deadline. */
const KEPT_AFTER_DEADLINE_SECONDS = 7 * 86_400;

/** They go a few at a time, between two turns of the lane: nobody waits for all of them. */
const SWAPS_OF_A_SLICE = 100;
const SLICE_EVERY_MS = 1_000;

interface Unsent {
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
  { laneStore, clock }: { laneStore: LaneStore; clock: Pick<Clock, "nowMs" | "monotonicMs"> },
): () => void {
  const old = db.prepare<[number, number], Unsent>(
    `SELECT id, quote_id AS quoteId, intent_id AS intentId FROM swaps
     WHERE hash IS NULL AND status IN ('error', 'expired') AND deadline_seconds < ?
       AND NOT EXISTS (SELECT 1 FROM relay_costs WHERE intent_id = swaps.intent_id)
     ORDER BY deadline_seconds LIMIT ?`,
  );
  const remove = [
    db.prepare<Unsent>("DELETE FROM swap_transitions WHERE swap_id = @id"),
    db.prepare<Unsent>("DELETE FROM swaps WHERE id = @id"),
    db.prepare<Unsent>("DELETE FROM quotes WHERE id = @quoteId"),
    db.prepare<Unsent>("DELETE FROM relays WHERE intent_id = @intentId"),
  ];
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonicMs() - prunedAtMs < SLICE_EVERY_MS) return;
    prunedAtMs = clock.monotonicMs();
    const before = Math.floor(clock.nowMs() / 1_000) - KEPT_AFTER_DEADLINE_SECONDS;
    const slice = old.all(before, SWAPS_OF_A_SLICE);
    if (slice.length === 0) return;
    laneStore.transaction(() => {
      for (const swap of slice) {
        if (laneStore.forgetUnsigned(swap.intentId)) for (const statement of remove) statement.run(swap);
      }
    });
    giveBackPages(db);
  };
}
