import { GLOBAL_SCOPE, type ModeRow, stricterMode } from "../domain/run/operating-mode.ts";
import type { SlotReason } from "../domain/run/reasons.ts";
import type { Run } from "../domain/run/run.ts";
import { nextInstant } from "../domain/schedule/next-instants.ts";
import { closingAfter } from "../domain/schedule/opening-hours.ts";
import { startOfSlot } from "../domain/schedule/slot-jitter.ts";
import { planSlots, type SlotGap, type SlotPlan, slotsBetween } from "../domain/schedule/slots.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import {
  initialStrategyMemory,
  isExitStrategy,
  type StrategyMemory,
  strategyEdited,
} from "../domain/strategy/strategy.ts";
import type { StrategyRow } from "../ports/daemon-rows.ts";
import { type RaisedAlert, tellAlerts } from "./alerts.ts";
import { handledAtEdit, isEditionOf } from "./edition.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { hasReadableMemory, parseStoredMemory, quarantine } from "./quarantine.ts";
import { halt } from "./reconcile/touches.ts";
import { noteEnd } from "./same-ends.ts";

/** Slots of so many strategies are one commit: few commits, and none that keeps the first ones waiting for the last. */
const BATCH = 1_000;

/** What slots came to: a gap, or the run that stands for them. */
export type SlotOutcome =
  | { readonly kind: "gap"; readonly strategy: string; readonly gap: SlotGap }
  | { readonly kind: "run"; readonly strategy: string; readonly slotMs: number; readonly slots: number };

/** Hears of the outcomes as they are written. */
export type OutcomeListener = (outcome: SlotOutcome) => void;

const nobody: OutcomeListener = () => undefined;

/**
 * Makes every loaded strategy known to the database. A new one starts at the next slot after now, never at one before;
 * a changed schedule never makes slots in the past either.
 * @param isAtWork whether slots were handled until now, so that those that are left wait for their turn
 */
export function registerStrategies(
  context: EngineContext,
  heard: OutcomeListener = nobody,
  isAtWork: boolean = false,
): void {
  const { store, clock, zones } = context.deps;
  const unreadable: StrategyRow[] = [];
  store.transaction(() => {
    endFutureBars(context);
    for (const { spec, specHash } of context.settings.strategies) {
      const row = store.strategy(spec.id);
      const nowMs = clock.nowMs();
      if (row !== undefined && row.kind === spec.kind && !hasReadableMemory(row)) {
        unreadable.push(row);
        continue;
      }
      if (row !== undefined && isEditionOf(row, { spec, specHash })) {
        if (row.specHash !== specHash) store.saveStrategy({ ...row, spec, specHash }, nowMs);
        continue;
      }
      const lastSlotMs = row === undefined ? nowMs : handledAtEdit(row, spec, { nowMs, isAtWork }, zones);
      if (row !== undefined) recordMissed(context, row, { untilMs: Math.min(lastSlotMs, nowMs), heard });
      if (lastSlotMs !== row?.lastSlotMs) recordUsedUp(context, spec, { nowMs, lastSlotMs });
      const memory = row === undefined ? initialStrategyMemory(spec) : editedMemory(row, spec);
      const edition = { id: spec.id, kind: spec.kind, specHash, spec, memory: JSON.stringify(memory), lastSlotMs };
      store.saveStrategy(edition, nowMs);
    }
  });
  for (const row of unreadable) quarantine(context, row);
}

/** Who set a mode back to active by a clock that ran ahead did so before now: no slot is barred until that clock is right. */
function endFutureBars({ deps: { store, clock } }: EngineContext): void {
  const atMs = clock.nowMs();
  for (const row of store.modes()) if (row.mode === "active" && row.atMs > atMs) store.setMode({ ...row, atMs });
}

function editedMemory(row: StrategyRow, spec: StrategySpec): StrategyMemory {
  return strategyEdited(row.spec, spec, parseStoredMemory(row.memory));
}

/** A strategy whose file was gone makes up for nothing of that time: whoever took it away did not want it to trade. */
export function passOverSlots(context: EngineContext, strategyId: string, heard: OutcomeListener): void {
  const { store, clock } = context.deps;
  store.transaction(() => {
    const row = store.strategy(strategyId);
    const nowMs = clock.nowMs();
    if (row === undefined) return;
    recordMissed(context, row, { untilMs: nowMs, heard });
    store.comeBack(strategyId, Math.max(row.lastSlotMs, nowMs));
  });
}

/** Slots that passed while nobody could run them, up to an instant: what follows begins after them. */
function recordMissed(
  context: EngineContext,
  row: StrategyRow,
  { untilMs, heard }: { untilMs: number; heard: OutcomeListener },
): void {
  const range = { afterMs: row.lastSlotMs, untilMs };
  const passed = slotsBetween(row.spec.schedule, range, context.deps.zones);
  if (passed === undefined) return;
  writeGaps(context, row.id, { gaps: [{ ...passed, reason: "missed" }], handledMs: row.lastSlotMs, heard });
}

/** Slots to come that an operator used up under the schedule before. */
function recordUsedUp(context: EngineContext, spec: StrategySpec, to: { nowMs: number; lastSlotMs: number }): void {
  const { store, zones } = context.deps;
  const slots = slotsBetween(spec.schedule, { afterMs: to.nowMs, untilMs: to.lastSlotMs }, zones);
  if (slots === undefined) return;
  const { firstMs, lastMs, count } = slots;
  const gap = { firstSlotMs: firstMs, lastSlotMs: lastMs, count, reason: "skipped_by_operator" };
  store.addGap({ strategy: spec.id, ...gap }, -1, to.nowMs);
}

/** So long the event loop is held at most, and for one strategy more: after days there may be much to count. */
const LONGEST_TURN_MS = 50;

/**
 * Turns the slots that are due into runs, and those that get none into gaps, in commits of many strategies each. A slot
 * is handled once: the row of the last handled slot moves in the same commit, and (strategy, slot) is unique besides.
 * @returns ids of the new runs, and whether strategies are left that a further call is to look at
 */
export function insertSomeDueRuns(
  context: EngineContext,
  heard: OutcomeListener = nobody,
): { readonly runs: readonly string[]; readonly isDone: boolean } {
  const { store, clock } = context.deps;
  const nowMs = clock.nowMs();
  const endsAtMs = clock.monotonicMs() + LONGEST_TURN_MS;
  const due = context.settings.strategies.filter(({ spec }) => (nextStart.get(spec) ?? 0) <= nowMs);
  const runs: string[] = [];
  const raised: RaisedAlert[] = [];
  for (let from = 0; from < due.length; from += BATCH) {
    const batch = due.slice(from, from + BATCH);
    const inserted = store.transaction(() => insertBatch(context, batch, { nowMs, heard, endsAtMs, raised }));
    tellAlerts(context.deps, raised.splice(0));
    runs.push(...inserted.runs);
    const isLast = from + BATCH >= due.length;
    if (!inserted.isDone || (!isLast && clock.monotonicMs() >= endsAtMs)) return { runs, isDone: false };
  }
  return { runs, isDone: true };
}

/** The same for all strategies, however long it takes. @returns ids of the new runs */
export function insertDueRuns(context: EngineContext, heard: OutcomeListener = nobody): readonly string[] {
  const runs: string[] = [];
  for (let isDone = false; !isDone; ) {
    const inserted = insertSomeDueRuns(context, heard);
    isDone = inserted.isDone;
    runs.push(...inserted.runs);
  }
  return runs;
}

/** When each strategy is due next, so that a tick does not compute every schedule anew. */
const nextStart = new WeakMap<StrategySpec, number>();

function insertBatch(
  context: EngineContext,
  batch: readonly LoadedStrategy[],
  turn: { nowMs: number; heard: OutcomeListener; endsAtMs: number; raised: RaisedAlert[] },
): { readonly runs: readonly string[]; readonly isDone: boolean } {
  const { store, zones, clock } = context.deps;
  const { nowMs, heard, endsAtMs, raised } = turn;
  const lastSlots = store.lastSlots(batch.map(({ spec }) => spec.id));
  const dueNow = batch.filter(({ spec }) =>
    isDue(context, spec, { handledMs: lastSlots.get(spec.id) ?? nowMs, nowMs }),
  );
  if (dueNow.length === 0) return { runs: [], isDone: true };
  const modes = new Map(store.modes().map((row) => [row.scope, row]));
  const open = store.openDifferences();
  const busy = store.strategiesWithOpenRun();
  const runs: string[] = [];
  for (const [index, strategy] of dueNow.entries()) {
    if (index > 0 && clock.monotonicMs() >= endsAtMs) return { runs, isDone: false };
    const { spec } = strategy;
    const handledMs = lastSlots.get(spec.id) ?? nowMs;
    const halting = halt(open, spec);
    // Its slots wait until it is known what the wallet did: then they are caught up like any others.
    if (halting?.kind === "unchecked") continue;
    const moment = { handledMs, nowMs, ...barredBy(modes, spec, halting !== undefined), isBusy: busy.has(spec.id) };
    const plan = planSlots(spec, moment, zones);
    raised.push(...writeGaps(context, spec.id, { gaps: plan.gaps, handledMs, heard }));
    const runId = insertRun(context, strategy, plan.run);
    if (runId !== undefined) runs.push(runId);
    if (runId !== undefined && plan.run !== undefined) heard({ kind: "run", strategy: spec.id, ...plan.run });
    if (plan.handledMs > handledMs) store.setLastSlot(spec.id, plan.handledMs);
  }
  return { runs, isDone: true };
}

function isDue(context: EngineContext, spec: StrategySpec, at: { handledMs: number; nowMs: number }): boolean {
  const { zones } = context.deps;
  const slotMs = nextInstant(spec.schedule, at.handledMs, zones);
  const startMs = slotMs === undefined ? Number.POSITIVE_INFINITY : startOfSlot(spec, slotMs, zones);
  nextStart.set(spec, startMs);
  return startMs <= at.nowMs;
}

function writeGaps(
  context: EngineContext,
  strategy: string,
  slots: { gaps: readonly SlotGap[]; handledMs: number; heard: OutcomeListener },
): readonly RaisedAlert[] {
  const { store, clock } = context.deps;
  const raised: RaisedAlert[] = [];
  let joinsAtMs = slots.handledMs;
  for (const gap of slots.gaps) {
    const { firstMs, lastMs, count, reason } = gap;
    store.addGap({ strategy, firstSlotMs: firstMs, lastSlotMs: lastMs, count, reason }, joinsAtMs, clock.nowMs());
    joinsAtMs = lastMs;
    slots.heard({ kind: "gap", strategy, gap });
    raised.push(...noteEnd(context, strategy, { slotMs: firstMs, count, reason }));
  }
  return raised;
}

function insertRun(context: EngineContext, strategy: LoadedStrategy, due: SlotPlan["run"]): string | undefined {
  if (due === undefined) return undefined;
  const run = dueRun(context, strategy, due);
  return context.deps.store.insertRun(run, context.deps.clock.nowMs()) ? run.id : undefined;
}

/**
 * Why a strategy starts no run now, because of its modes; and until when it started none, as far as the modes' rows
 * still tell: what was due before somebody set the mode back to active is not made up for.
 */
function barredBy(
  modes: ReadonlyMap<string, ModeRow>,
  spec: StrategySpec,
  isHalted: boolean,
): { barred: Exclude<SlotReason, "overlap"> | undefined; barredUntilMs: number } {
  const rows = [modes.get(GLOBAL_SCOPE), modes.get(spec.id)].filter((row) => row !== undefined);
  const mode = rows.map((row) => row.mode).reduce(stricterMode, isHalted ? "halted" : "active");
  const isBarred = mode === "paused" || mode === "halted" || (mode === "exits-only" && !isExitStrategy(spec));
  const resumedMs = rows.filter((row) => row.mode === "active").map((row) => row.atMs);
  return { barred: isBarred ? mode : undefined, barredUntilMs: Math.max(0, ...resumedMs) };
}

/** Why a strategy starts no run now: its mode forbids it, or it still has an open one. */
export function barredReason(context: EngineContext, { spec }: LoadedStrategy): SlotReason | undefined {
  const { store } = context.deps;
  const isHalted = halt(store.openDifferences(), spec) !== undefined;
  const { barred } = barredBy(new Map(store.modes().map((row) => [row.scope, row])), spec, isHalted);
  return barred ?? (store.hasOpenRun(spec.id) ? "overlap" : undefined);
}

/**
 * A run at the moment it begins; its slot may lie ahead when an operator asked for it early. Its window ends where the
 * schedule closes: nothing new begins outside of it.
 */
export function dueRun(
  context: EngineContext,
  { spec, specHash }: LoadedStrategy,
  due: { readonly slotMs: number; readonly slots: number; readonly detail?: string },
): Run {
  const { ids, clock, zones } = context.deps;
  const nowMs = clock.nowMs();
  const untilMs = nowMs + spec.retryForSeconds * 1_000;
  return {
    id: ids.newId("run"),
    strategyId: spec.id,
    slotMs: due.slotMs,
    slots: due.slots,
    state: "due",
    reason: undefined,
    detail: due.detail,
    specHash,
    windowEndsMs: closingAfter(spec.schedule, { openMs: nowMs, untilMs }, zones),
    retries: 0,
    swaps: [],
  };
}
