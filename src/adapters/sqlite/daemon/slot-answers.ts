import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import type { StrategyRow } from "../../../ports/daemon-rows.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { SlotRows } from "../../../ports/slot-questions.ts";
import type { Readers } from "./readers.ts";
import type { RowStore } from "./row-store.ts";
import { readModeRows } from "./view-answers.ts";

type SlotKinds =
  | "slots"
  | "next-slot"
  | "editions"
  | "busy"
  | "scope"
  | "start"
  | "requests"
  | "modes"
  | "newest-request"
  | "request-answer"
  | "newest-fill"
  | "due-runs"
  | "due-effects"
  | "next-effect"
  | "effect"
  | "hold"
  | "differences";

/** Answers what is asked for slots, editions, operators' requests and effects. */
export function createSlotAnswers(rows: RowStore, lanes: () => LaneRowStore): Pick<Readers, SlotKinds> {
  return {
    slots: ({ strategyIds }) => slotRows(rows, strategyIds),
    "next-slot": ({ strategyId, fromMs }) => {
      const slots = slotRows(rows, [strategyId]);
      const taken = rows.slotsWithRun(strategyId, Math.min(fromMs, slots.lastSlots.get(strategyId) ?? fromMs));
      return { ...slots, taken };
    },
    editions: ({ strategyIds, fromMs }) => {
      const known = strategyIds.map((id) => rows.strategy(id)).filter((row): row is StrategyRow => row !== undefined);
      const byId = new Map(known.map((row) => [row.id, row]));
      return { ...slotRows(rows, strategyIds, fromMs), rows: byId, gone: rows.goneStrategies() };
    },
    busy: () => rows.strategiesWithOpenRun(),
    scope: ({ scope }) => ({
      mode: rows.mode(scope),
      isKnown: rows.strategy(scope) !== undefined,
      halts: lanes().halts(),
      modes: rows.modes(),
    }),
    start: () => ({ mode: rows.mode(GLOBAL_SCOPE), lastAliveMs: rows.lastAliveMs() }),
    modes: () => rows.modes(),
    "newest-request": () => rows.newestRequest(),
    "request-answer": ({ requestId }) => rows.answerOf(requestId),
    requests: () => rows.openRequests(),
    "newest-fill": () => rows.newestFillMs(),
    "due-runs": ({ limit }) => rows.dueRuns(limit),
    "due-effects": ({ nowMs, limit, group }) => rows.dueEffects(nowMs, limit, group),
    hold: ({ runId }) => {
      const run = rows.run(runId);
      const strategyId = run?.strategyId ?? "";
      const standing = readModeRows(rows, strategyId, rows.strategy(strategyId)?.spec);
      const barred = { halts: lanes().halts(), isBarred: rows.isRunBarred(runId) };
      return { run, holds: rows.holds(runId), ...standing, ...barred };
    },
    "next-effect": () => rows.nextEffectMs(),
    effect: ({ effectId, runId }) => {
      const run = rows.run(runId);
      if (run === undefined) throw new Error(`effect ${effectId} belongs to no run`);
      const begun = rows.begun(effectId);
      // Performing it as if it had not been begun would do it twice.
      if (begun === undefined) throw new Error(`effect ${effectId} was answered, or never written down`);
      return { run, begun };
    },
    differences: () => rows.openDifferences(),
  };
}

function slotRows(rows: RowStore, strategyIds: readonly string[], fromMs?: number): SlotRows {
  return {
    lastSlots: rows.lastSlots(strategyIds),
    endedAhead: rows.endedAhead(strategyIds, fromMs),
    modes: rows.modes(),
    differences: rows.openDifferences(),
    accepted: rows.acceptedOthers(),
    busy: rows.strategiesWithOpenRun(),
    sameEnds: rows.sameEndsOf(strategyIds),
    warnings: rows.warnings(),
  };
}
