import type { ModeRow } from "../domain/run/operating-mode.ts";
import { slotsBetween, withoutEnded } from "../domain/schedule/slots.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { initialStrategyMemory, type StrategyMemory, strategyEdited } from "../domain/strategy/strategy.ts";
import type { Change, Decided } from "../ports/changes.ts";
import type { StrategyRow } from "../ports/daemon-rows.ts";
import type { Answered } from "../ports/questions.ts";
import type { SlotRows } from "../ports/slot-questions.ts";
import { commitAndNotify } from "./alerts.ts";
import { handledAtEdit, isEditionOf, keepsInstants } from "./edition.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { hasReadableMemory, parseStoredMemory, quarantineChanges } from "./quarantine.ts";
import { halt } from "./reconcile/touches.ts";
import { barredReason, dueRun } from "./scheduler.ts";
import { type DecidedSlots, gapsOf, NO_GAP, nobody, type OutcomeListener, type SlotOutcome } from "./slot-gaps.ts";

/**
 * Makes every loaded strategy known to the database. A new one starts at the next slot after now, never at one before;
 * a changed schedule never makes slots in the past either.
 * @param isAtWork whether slots were handled until now, so that those that are left wait for their turn
 */
export async function registerStrategies(
  context: EngineContext,
  heard: OutcomeListener = nobody,
  isAtWork: boolean = false,
): Promise<void> {
  const { strategies } = context.settings;
  const question = {
    kind: "editions",
    strategyIds: strategies.map(({ spec }) => spec.id),
    fromMs: context.deps.clock.nowMs(),
  } as const;
  const decide = (rows: Answered<"editions">): Decided<readonly SlotOutcome[]> => {
    const { changes, outcomes } = decideEditions(context, strategies, { rows, isAtWork });
    return { changes, atMs: context.deps.clock.nowMs(), value: outcomes };
  };
  const outcomes = await commitAndNotify(context.deps, { question, decide });
  outcomes.forEach(heard);
}

/** What makes editions known: those of strategies that are new, and those that differ from what the rows have. */
export function decideEditions(
  context: EngineContext,
  strategies: readonly LoadedStrategy[],
  { rows, isAtWork }: { readonly rows: Answered<"editions">; readonly isAtWork: boolean },
): DecidedSlots {
  const changes: Change[] = endFutureBars(context, rows.modes);
  const outcomes: SlotOutcome[] = [];
  const nowMs = context.deps.clock.nowMs();
  for (const loaded of strategies) {
    const row = rows.rows.get(loaded.spec.id);
    const decided =
      row === undefined
        ? firstEdition(context, loaded, { rows, nowMs })
        : nextEdition(context, row, loaded, { rows, isAtWork, nowMs });
    changes.push(...decided.changes);
    outcomes.push(...decided.outcomes);
  }
  return { changes, outcomes };
}

function firstEdition(
  context: EngineContext,
  loaded: LoadedStrategy,
  { rows, nowMs }: { readonly rows: Answered<"editions">; readonly nowMs: number },
): DecidedSlots {
  const { spec, specHash } = loaded;
  const memory = JSON.stringify(initialStrategyMemory(spec));
  const row = { id: spec.id, kind: spec.kind, specHash, spec, memory, lastSlotMs: nowMs };
  const known = { kind: "strategy", row } as const;
  if (spec.startsNow !== true) return { changes: [known], outcomes: [] };
  const first = firstSlotNow(context, loaded, { rows, nowMs });
  return { changes: [known, ...first.changes], outcomes: first.outcomes };
}

/**
 * The slot of a strategy that starts now, in the commit that makes it known: so there is one, whatever becomes of the
 * process. Where its mode bars it, it is passed over like any other.
 */
function firstSlotNow(
  context: EngineContext,
  loaded: LoadedStrategy,
  { rows, nowMs }: { readonly rows: Answered<"editions">; readonly nowMs: number },
): DecidedSlots {
  const slotMs = Math.floor(nowMs / 1_000) * 1_000;
  const strategy = loaded.spec.id;
  // A wallet that is being checked is no reason: runs begin once it was, and nothing is signed before.
  const isUnchecked = halt(rows.differences, loaded.spec)?.kind === "unchecked";
  const reason = barredReason(isUnchecked ? { ...rows, differences: [] } : rows, loaded);
  if (reason !== undefined) {
    const gap = { strategy, firstSlotMs: slotMs, lastSlotMs: slotMs, count: 1, reason };
    return { changes: [{ kind: "gap", gap, joinsAtMs: NO_GAP }], outcomes: [] };
  }
  const detail = "its first slot, because it starts now";
  const run = dueRun(context, loaded, { slotMs, slots: 1, detail });
  return { changes: [{ kind: "run-due", run }], outcomes: [{ kind: "run", strategy, slotMs, slots: 1 }] };
}

function nextEdition(
  context: EngineContext,
  row: StrategyRow,
  { spec, specHash }: LoadedStrategy,
  at: { readonly rows: Answered<"editions">; readonly isAtWork: boolean; readonly nowMs: number },
): DecidedSlots {
  const { rows, isAtWork, nowMs } = at;
  if (row.kind === spec.kind && !hasReadableMemory(row)) {
    return { changes: quarantineChanges(context, row, rows.modes), outcomes: [] };
  }
  if (isEditionOf(row, { spec, specHash })) {
    return {
      changes: row.specHash === specHash ? [] : [{ kind: "strategy", row: { ...row, spec, specHash } }],
      outcomes: [],
    };
  }
  const lastSlotMs = handledAtEdit(row, spec, { nowMs, isAtWork }, context.deps.zones);
  const { changes, outcomes } = missedSlots(context, row, { untilMs: Math.min(lastSlotMs, nowMs), rows });
  const used = keepsInstants(row.spec, spec) ? [] : usedUpSlots(context, spec, { nowMs, lastSlotMs, rows });
  const memory = JSON.stringify(editedMemory(row, spec));
  const edition = { id: spec.id, kind: spec.kind, specHash, spec, memory, lastSlotMs };
  return { changes: [...changes, ...used, { kind: "strategy", row: edition }], outcomes };
}

/** Who set a mode back to active by a clock that ran ahead did so before now: no slot is barred until that clock is right. */
function endFutureBars({ deps: { clock } }: EngineContext, modes: readonly ModeRow[]): Change[] {
  const atMs = clock.nowMs();
  const ahead = modes.filter((row) => row.mode === "active" && row.atMs > atMs);
  return ahead.map((row) => ({ kind: "mode-corrected", row: { ...row, atMs } }));
}

function editedMemory(row: StrategyRow, spec: StrategySpec): StrategyMemory {
  return strategyEdited(row.spec, spec, parseStoredMemory(row.memory));
}

/** A strategy whose file was gone makes up for nothing of that time: with its file gone it was not meant to trade. */
export function passOverSlots(context: EngineContext, row: StrategyRow, rows: SlotRows): DecidedSlots {
  const nowMs = context.deps.clock.nowMs();
  const { changes, outcomes } = missedSlots(context, row, { untilMs: nowMs, rows });
  const back = { kind: "come-back", strategyId: row.id, lastSlotMs: Math.max(row.lastSlotMs, nowMs) } as const;
  return { changes: [...changes, back], outcomes };
}

/** Slots that passed while they could not be run, up to an instant: what follows begins after them. */
function missedSlots(
  context: EngineContext,
  row: StrategyRow,
  { untilMs, rows }: { readonly untilMs: number; readonly rows: SlotRows },
): DecidedSlots {
  const range = { afterMs: row.lastSlotMs, untilMs };
  const passed = slotsBetween(row.spec.schedule, range, context.deps.zones);
  if (passed === undefined) return { changes: [], outcomes: [] };
  return gapsOf(context, row.spec, { gaps: [{ ...passed, reason: "missed" }], handledMs: row.lastSlotMs, rows });
}

/** Slots to come that an operator used up under the schedule before. Those that have their end or run keep it. */
function usedUpSlots(
  { deps: { zones } }: EngineContext,
  { id: strategy, schedule }: StrategySpec,
  { nowMs, lastSlotMs, rows }: { readonly nowMs: number; readonly lastSlotMs: number; readonly rows: SlotRows },
): readonly Change[] {
  const slots = slotsBetween(schedule, { afterMs: nowMs, untilMs: lastSlotMs }, zones);
  if (slots === undefined) return [];
  return withoutEnded(schedule, slots, rows.endedAhead.get(strategy) ?? [], zones).map(({ firstMs, lastMs, count }) => {
    const gap = { firstSlotMs: firstMs, lastSlotMs: lastMs, count, reason: "skipped_by_operator" };
    return { kind: "gap", gap: { strategy, ...gap }, joinsAtMs: NO_GAP };
  });
}
