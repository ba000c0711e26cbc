import type { Run } from "../domain/run/run.ts";
import { nextInstant } from "../domain/schedule/next-instants.ts";
import { planSlots, type SlotPlan } from "../domain/schedule/slots.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import {
  initialStrategyMemory,
  isExitStrategy,
  type StrategyMemory,
  strategyEdited,
} from "../domain/strategy/strategy.ts";
import type { StrategyRow } from "../ports/store.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { effectiveMode } from "./modes.ts";

/** Missed slots are counted up to here; beyond it a gap says "at least". */
const MISSED_COUNT_LIMIT = 1_000_000;

/**
 * Makes every loaded strategy known to the database. A new one starts at the next slot after now, never at one before;
 * a changed schedule never makes slots in the past either.
 */
export function registerStrategies(context: EngineContext): void {
  const { store, clock } = context.deps;
  store.transaction(() => {
    for (const { spec, specHash } of context.settings.strategies) {
      const row = store.strategy(spec.id);
      const nowMs = clock.nowMs();
      if (row?.kind === spec.kind && row.specHash === specHash) continue;
      if (row !== undefined) recordMissed(context, row, nowMs);
      const memory = row === undefined ? initialStrategyMemory(spec) : editedMemory(row, spec);
      const lastSlotMs = row === undefined ? nowMs : Math.max(row.lastSlotMs, nowMs);
      const edition = { id: spec.id, kind: spec.kind, specHash, spec, memory: JSON.stringify(memory), lastSlotMs };
      store.saveStrategy(edition, nowMs);
    }
  });
}

function editedMemory(row: StrategyRow, spec: StrategySpec): StrategyMemory {
  return strategyEdited(row.spec, spec, JSON.parse(row.memory));
}

/** Slots of the edition before, which passed while nobody could run them: a new edition begins after them. */
function recordMissed(context: EngineContext, row: StrategyRow, nowMs: number): void {
  const { store, zones } = context.deps;
  const handledMs = row.lastSlotMs;
  const { missed, dueMs } = planSlots(row.spec.schedule, { handledMs, nowMs }, zones, MISSED_COUNT_LIMIT);
  const gap = (firstSlotMs: number, lastSlotMs: number, count: number) =>
    ({ strategy: row.id, firstSlotMs, lastSlotMs, count, reason: "missed" }) as const;
  if (missed !== undefined) store.addGap(gap(missed.firstMs, missed.lastMs, missed.count), handledMs, nowMs);
  if (dueMs !== undefined) store.addGap(gap(dueMs, dueMs, 1), missed?.lastMs ?? handledMs, nowMs);
}

/**
 * Turns the slots that are due into runs, and those that get none into gaps, all in one transaction. A slot is handled
 * once: the row of the last handled slot moves in the same commit, and (strategy, slot) is unique besides.
 * @returns ids of the new runs
 */
export function insertDueRuns(context: EngineContext): readonly string[] {
  const { store, clock, zones } = context.deps;
  const nowMs = clock.nowMs();
  const due = context.settings.strategies.filter((strategy) => isDue(context, strategy, nowMs));
  if (due.length === 0) return [];
  return store.transaction(() => {
    const runs: string[] = [];
    for (const strategy of due) {
      const handledMs = store.strategy(strategy.spec.id)?.lastSlotMs ?? nowMs;
      const plan = planSlots(strategy.spec.schedule, { handledMs, nowMs }, zones, MISSED_COUNT_LIMIT);
      const runId = handleSlots(context, strategy, { plan, handledMs, nowMs });
      if (runId !== undefined) runs.push(runId);
      store.setLastSlot(strategy.spec.id, Math.max(handledMs, plan.handledMs));
    }
    return runs;
  });
}

/** When each strategy is due next, so that a tick does not compute every schedule anew. */
const nextDue = new WeakMap<StrategySpec, number>();

function isDue(context: EngineContext, strategy: LoadedStrategy, nowMs: number): boolean {
  const known = nextDue.get(strategy.spec);
  if (known !== undefined && nowMs < known) return false;
  const handledMs = context.deps.store.strategy(strategy.spec.id)?.lastSlotMs ?? nowMs;
  const next = nextInstant(strategy.spec.schedule, handledMs, context.deps.zones);
  nextDue.set(strategy.spec, next ?? Number.POSITIVE_INFINITY);
  return next !== undefined && next <= nowMs;
}

function handleSlots(
  context: EngineContext,
  strategy: LoadedStrategy,
  slots: { plan: SlotPlan; handledMs: number; nowMs: number },
): string | undefined {
  const { store } = context.deps;
  const { plan, nowMs } = slots;
  const { id } = strategy.spec;
  if (plan.missed !== undefined) {
    const { firstMs, lastMs, count } = plan.missed;
    store.addGap(
      { strategy: id, firstSlotMs: firstMs, lastSlotMs: lastMs, count, reason: "missed" },
      slots.handledMs,
      nowMs,
    );
  }
  if (plan.dueMs === undefined) return undefined;
  const reason = barredReason(context, strategy);
  if (reason !== undefined) {
    const joinsAtMs = plan.missed === undefined ? slots.handledMs : -1;
    store.addGap({ strategy: id, firstSlotMs: plan.dueMs, lastSlotMs: plan.dueMs, count: 1, reason }, joinsAtMs, nowMs);
    return undefined;
  }
  const run = dueRun(context, strategy, plan.dueMs);
  return store.insertRun(run, nowMs) ? run.id : undefined;
}

/** Why a strategy starts no run now: its mode forbids it, or its strategy still has an open one. */
export function barredReason(context: EngineContext, strategy: LoadedStrategy): string | undefined {
  const { store } = context.deps;
  const { mode } = effectiveMode(store, strategy.spec.id);
  if (mode === "paused" || mode === "halted") return mode;
  if (mode === "exits-only" && !isExitStrategy(strategy.spec)) return "exits-only";
  return store.hasOpenRun(strategy.spec.id) ? "overlap" : undefined;
}

/** A run at the moment it begins; its slot may lie ahead when an operator asked for it early. */
export function dueRun(context: EngineContext, strategy: LoadedStrategy, slotMs: number): Run {
  return {
    id: context.deps.ids.newId("run"),
    strategyId: strategy.spec.id,
    slotMs,
    slots: 1,
    state: "due",
    reason: undefined,
    detail: undefined,
    specHash: strategy.specHash,
    windowEndsMs: context.deps.clock.nowMs() + strategy.spec.retryForSeconds * 1_000,
    swaps: [],
  };
}
