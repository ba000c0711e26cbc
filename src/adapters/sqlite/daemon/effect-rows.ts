import { EFFECT_VERSION, type Effect } from "../../../domain/run/effects.ts";
import type { EffectGroup, RunStore } from "../../../ports/store.ts";
import type { Statements } from "../statements.ts";
import { encodeJson } from "./codec.ts";

type EffectRows = Pick<
  RunStore,
  "addEffects" | "dueEffects" | "nextEffectMs" | "beginEffect" | "finishEffect" | "postponeEffect" | "hastenEffects"
>;

const GROUPS: Readonly<Record<EffectGroup, string>> = {
  looks: "kind = 'ReadChain'",
  routes: "kind = 'FetchRoute'",
  others: "kind NOT IN ('ReadChain', 'FetchRoute')",
  "no routes": "kind <> 'FetchRoute'",
};

/** Rows of effects: what is to be done, written down before it is done. */
export function createEffectRows(sql: Statements): EffectRows {
  return {
    addEffects: (runId, effects, atMs) => {
      for (const { effect, notBeforeMs } of effects) {
        sql.run(
          `INSERT INTO effects (run_id, swap_id, kind, version, payload, not_before_ms, created_at_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          runId,
          "swapId" in effect ? effect.swapId : null,
          effect.kind,
          EFFECT_VERSION,
          encodeJson(effect),
          Math.ceil(notBeforeMs),
          atMs,
        );
      }
    },
    dueEffects: (nowMs, limit, group) =>
      sql
        .all<{ id: number; run_id: string; payload: string }>(
          `SELECT id, run_id, payload FROM effects
           WHERE done_at_ms IS NULL AND not_before_ms <= ? AND ${GROUPS[group]} ORDER BY not_before_ms, id LIMIT ?`,
          nowMs,
          limit,
        )
        .map((row) => ({ id: row.id, runId: row.run_id, effect: JSON.parse(row.payload) as Effect })),
    nextEffectMs: () =>
      sql.get<{ at: number | null }>("SELECT min(not_before_ms) AS at FROM effects WHERE done_at_ms IS NULL")?.at ??
      undefined,
    beginEffect: (id) => {
      sql.run("UPDATE effects SET attempts = attempts + 1 WHERE id = ?", id);
      return (sql.get<{ attempts: number }>("SELECT attempts FROM effects WHERE id = ?", id)?.attempts ?? 1) - 1;
    },
    finishEffect: (id, atMs) => {
      sql.run("UPDATE effects SET done_at_ms = ? WHERE id = ?", atMs, id);
    },
    postponeEffect: (id, atMs) => {
      // The wait is written now: a clock that runs ahead at this instant is found out by that.
      const wholeMs = Math.ceil(atMs);
      sql.run("UPDATE effects SET not_before_ms = ?, created_at_ms = ? WHERE id = ?", wholeMs, wholeMs, id);
    },
    hastenEffects: (nowMs) => {
      sql.run(
        "UPDATE effects SET not_before_ms = ? WHERE done_at_ms IS NULL AND not_before_ms > ? AND created_at_ms > ?",
        nowMs,
        nowMs,
        nowMs,
      );
    },
  };
}
