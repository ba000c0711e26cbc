import { EFFECT_VERSION, type Effect } from "../../../domain/run/effects.ts";
import type { Statements } from "../statements.ts";
import { encodeJson } from "./codec.ts";
import type { RowStore } from "./row-store.ts";
import type { WaitingEffect, WorkQueue } from "./work-queue.ts";

/** The part of the store that keeps effects. */
export type EffectRows = Pick<
  RowStore,
  | "addEffects"
  | "begun"
  | "dueEffects"
  | "nextEffectMs"
  | "beginEffect"
  | "finishEffect"
  | "postponeEffect"
  | "hastenEffects"
  | "isAnyEffectAhead"
  | "hastenQuotes"
>;

function createBeginnings(sql: Statements): Pick<EffectRows, "begun" | "beginEffect"> {
  const begun = (id: number): number | undefined =>
    sql.get<{ attempts: number }>("SELECT attempts FROM effects WHERE id = ?", id)?.attempts;
  return {
    begun,
    beginEffect: (id) => {
      const before = begun(id);
      // To begin it as if for the first time would be to do it twice.
      if (before === undefined) throw new Error(`effect ${id} is begun, and it was answered or never written down`);
      sql.run("UPDATE effects SET attempts = attempts + 1 WHERE id = ?", id);
      // What is begun is submitted: a copy that does not know of it is an older one.
      sql.run("UPDATE identity SET signed = signed + 1");
      return before;
    },
  };
}

/**
 * Rows of effects: what is to be done, written down before it is done. Which of them are due is distinguished from memory: the
 * daemon asks several times a second, and nobody else writes them.
 */
export function createEffectRows(sql: Statements, queue: WorkQueue): EffectRows {
  return {
    addEffects: (runId, effects, atMs) => {
      for (const { effect, notBeforeMs } of effects) {
        const wholeMs = Math.ceil(notBeforeMs);
        const payload = encodeJson(effect);
        const id = sql.insert(
          `INSERT INTO effects (run_id, swap_id, kind, version, payload, not_before_ms, created_at_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          runId,
          "swapId" in effect ? effect.swapId : null,
          effect.kind,
          EFFECT_VERSION,
          payload,
          wholeMs,
          atMs,
        );
        queue.add({ id, runId, effect: decode(payload), notBeforeMs: wholeMs, writtenAtMs: atMs });
      }
    },
    dueEffects: queue.due,
    nextEffectMs: queue.nextMs,
    ...createBeginnings(sql),
    finishEffect: (id) => {
      sql.run("DELETE FROM effects WHERE id = ?", id);
      queue.remove(id);
    },
    postponeEffect: (id, atMs, untilMs = atMs) => {
      // The wait is written now: a clock that runs ahead at this instant is found out by that.
      const [notBeforeMs, writtenAtMs] = [Math.ceil(untilMs), Math.ceil(atMs)];
      sql.run(
        "UPDATE effects SET not_before_ms = ?, created_at_ms = ?, attempts = max(attempts - 1, 0) WHERE id = ?",
        notBeforeMs,
        writtenAtMs,
        id,
      );
      queue.move(id, { notBeforeMs, writtenAtMs });
    },
    hastenEffects: (nowMs) => {
      sql.run(
        "UPDATE effects SET not_before_ms = ? WHERE not_before_ms > ? AND created_at_ms > ?",
        nowMs,
        nowMs,
        nowMs,
      );
      queue.hasten(nowMs);
    },
    isAnyEffectAhead: (nowMs) => queue.ahead(nowMs).length > 0,
    hastenQuotes: (runId, nowMs) => {
      const wholeMs = Math.floor(nowMs);
      const waiting = sql.all<{ id: number }>(
        "SELECT id FROM effects WHERE run_id = ? AND kind = 'FetchQuote' AND not_before_ms > ?",
        runId,
        wholeMs,
      );
      for (const { id } of waiting) {
        sql.run("UPDATE effects SET not_before_ms = ?, created_at_ms = ? WHERE id = ?", wholeMs, wholeMs, id);
        queue.move(id, { notBeforeMs: wholeMs, writtenAtMs: wholeMs });
      }
    },
  };
}

/** The effects that are to be done: what is done has no row any more. */
export function readWaiting(sql: Statements): readonly WaitingEffect[] {
  return sql
    .all<{ id: number; runId: string; payload: string; notBeforeMs: number; writtenAtMs: number }>(
      `SELECT id, run_id AS runId, payload, not_before_ms AS notBeforeMs, created_at_ms AS writtenAtMs
       FROM effects`,
    )
    .map(({ payload, ...row }) => ({ ...row, effect: decode(payload) }));
}

function decode(payload: string): Effect {
  return JSON.parse(payload) as Effect;
}
