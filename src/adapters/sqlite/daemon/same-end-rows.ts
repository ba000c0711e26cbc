import type { SameEnds } from "../../../domain/run/same-ends.ts";
import type { Statements } from "../statements.ts";
import type { RowStore } from "./row-store.ts";

/** How often in a row slots of a strategy came to nothing: one row a strategy. */
export function createSameEndRows(sql: Statements): Pick<RowStore, "sameEnds" | "sameEndsOf" | "saveSameEnds"> {
  return {
    sameEnds: (strategyId) =>
      sql.get<SameEnds>(
        "SELECT reason, count, first_slot_ms AS firstSlotMs FROM same_ends WHERE strategy = ?",
        strategyId,
      ),
    sameEndsOf: (strategyIds) => {
      const rows = sql.all<SameEnds & { strategy: string }>(
        `SELECT strategy, reason, count, first_slot_ms AS firstSlotMs FROM same_ends
         WHERE strategy IN (SELECT value FROM json_each(?))`,
        JSON.stringify(strategyIds),
      );
      return new Map(rows.map(({ strategy, ...ends }) => [strategy, ends]));
    },
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
