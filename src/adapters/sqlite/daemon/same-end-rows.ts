import type { SameEnds } from "../../../domain/run/same-ends.ts";
import type { Statements } from "../statements.ts";
import type { RowStore } from "./row-store.ts";

/** How often in a row slots of a strategy ended alike: one row a strategy. */
export function createSameEndRows(sql: Statements): Pick<RowStore, "sameEnds" | "saveSameEnds"> {
  return {
    sameEnds: (strategyId) =>
      sql.get<SameEnds>(
        "SELECT reason, count, first_slot_ms AS firstSlotMs FROM same_ends WHERE strategy = ?",
        strategyId,
      ),
    saveSameEnds: (strategyId, ends) => {
      if (ends === undefined) {
        sql.run("DELETE FROM same_ends WHERE strategy = ?", strategyId);
        return;
      }
      const { reason, count, firstSlotMs } = ends;
      sql.run(
        `INSERT INTO same_ends (strategy, reason, count, first_slot_ms) VALUES (?, ?, ?, ?)
         ON CONFLICT (strategy) DO UPDATE SET
           reason = excluded.reason, count = excluded.count, first_slot_ms = excluded.first_slot_ms`,
        strategyId,
        reason,
        count,
        firstSlotMs,
      );
    },
  };
}
