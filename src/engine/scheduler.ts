import { GLOBAL_SCOPE, type ModeRow, stricterMode } from "../domain/run/operating-mode.ts";
import type { SlotReason } from "../domain/run/reasons.ts";
import type { Run } from "../domain/run/run.ts";
import { nextInstant } from "../domain/schedule/next-instants.ts";
import { triedUntil } from "../domain/schedule/opening-hours.ts";
import { startOfSlot } from "../domain/schedule/slot-jitter.ts";
import { planSlots } from "../domain/schedule/slots.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { Change, Decided } from "../ports/changes.ts";
import type { SlotRows } from "../ports/slot-questions.ts";
import { commitAndNotify } from "./alerts.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { barringMode } from "./modes.ts";
import { halt } from "./reconcile/touches.ts";
import { type DecidedSlots, gapsOf, nobody, type OutcomeListener, type SlotOutcome } from "./slot-gaps.ts";

/** Slots of so many strategies are one commit: few commits, and none that keeps the first ones waiting for the last. */
const BATCH = 1_000;

/** So long the event loop is held at most, and for one strategy more: after days there may be much to count. */
const LONGEST_TURN_MS = 50;

/**
 * Turns the slots that are due into runs, and those that get none into gaps, in commits of many strategies each. A slot
 * is handled once: the row of the last handled slot moves in the same commit, and (strategy, slot) is unique besides.
 * @returns ids of the new runs, and whether strategies are left that a further call is to look at
 */
export async function insertSomeDueRuns(
  context: EngineContext,
  heard: OutcomeListener = nobody,
): Promise<{ readonly runs: readonly string[]; readonly isDone: boolean }> {
  const { clock } = context.deps;
  const nowMs = clock.nowMs();
  const beganAtMs = clock.monotonicMs();
  const { strategies } = context.settings;
  if ((earliestStart.get(strategies) ?? 0) > nowMs) return { runs: [], isDone: true };
  const due = strategies.filter(({ spec }) => startOf(spec) <= nowMs && !wasPassedOver(spec, nowMs));
  const runs: string[] = [];
  for (let from = 0; from < due.length; from += BATCH) {
    const batch = due.slice(from, from + BATCH);
    const question = { kind: "slots", strategyIds: batch.map(({ spec }) => spec.id) } as const;
    const decide = (rows: SlotRows) => decideBatch(context, batch, { nowMs, rows });
    const inserted = await commitAndNotify(context.deps, { question, decide });
    inserted.outcomes.forEach(heard);
    runs.push(...inserted.runs);
    const isLast = from + BATCH >= due.length;
    const isLong = clock.monotonicMs() - beganAtMs >= LONGEST_TURN_MS;
    if (!inserted.isDone || (!isLast && isLong)) return { runs, isDone: false };
  }
  const least = strategies.reduce((earliest, { spec }) => Math.min(earliest, startOf(spec)), Number.POSITIVE_INFINITY);
  earliestStart.set(strategies, least);
  return { runs, isDone: true };
}

/** The same for all strategies, however long it takes: between two turns others have theirs. @returns ids of the new runs */
export async function insertDueRuns(
  context: EngineContext,
  heard: OutcomeListener = nobody,
): Promise<readonly string[]> {
  const runs: string[] = [];
  for (let isDone = false; !isDone; ) {
    const inserted = await insertSomeDueRuns(context, heard);
    isDone = inserted.isDone;
    runs.push(...inserted.runs);
    if (!isDone) await context.deps.clock.sleep(0);
  }
  return runs;
}

/** When each strategy is due next, so that a tick does not compute every schedule anew. */
const nextStart = new WeakMap<StrategySpec, number>();
/** The earliest of them: before it a tick looks at none of many strategies. */
const earliestStart = new WeakMap<readonly LoadedStrategy[], number>();

function startOf(spec: StrategySpec): number {
  return nextStart.get(spec) ?? 0;
}

/** When a strategy was passed over last, because its wallet was not checked yet. */
const passedOver = new WeakMap<StrategySpec, number>();

/** Shorter than a tick is away: turns of the same one come to those behind it, and the next tick looks at it again. */
const PASSED_OVER_MS = 500;

function wasPassedOver(spec: StrategySpec, nowMs: number): boolean {
  return Math.abs(nowMs - (passedOver.get(spec) ?? Number.NEGATIVE_INFINITY)) < PASSED_OVER_MS;
}

/** Its slots wait until it is known what the wallet did: then they are caught up like any others. */
function passesOver({ differences }: SlotRows, spec: StrategySpec, nowMs: number): boolean {
  if (halt(differences, spec)?.kind !== "unchecked") return false;
  passedOver.set(spec, nowMs);
  return true;
}

/** What became of a batch: the ids of its new runs, and whether all of it was looked at. */
interface Batch {
  readonly runs: readonly string[];
  readonly outcomes: readonly SlotOutcome[];
  readonly isDone: boolean;
}

function decideBatch(
  context: EngineContext,
  batch: readonly LoadedStrategy[],
  { nowMs, rows }: { readonly nowMs: number; readonly rows: SlotRows },
): Decided<Batch> {
  const { clock } = context.deps;
  // From here on: what is read takes longer the more is due, and each turn must bring more than its reading costs.
  const endsAtMs = clock.monotonicMs() + LONGEST_TURN_MS;
  const runs: string[] = [];
  const outcomes: SlotOutcome[] = [];
  // By a clock that ran ahead something was accepted at no time that is known now: it was now at the latest.
  const isAhead = [...rows.accepted.values()].some((acceptedMs) => acceptedMs > nowMs);
  const changes: Change[] = isAhead ? [{ kind: "acceptances-capped" }] : [];
  const dueNow = batch.filter(
    ({ spec }) =>
      !passesOver(rows, spec, nowMs) &&
      isDue(context, spec, { handledMs: rows.lastSlots.get(spec.id) ?? nowMs, nowMs }),
  );
  const modes = new Map(rows.modes.map((row) => [row.scope, row]));
  const written = (isDone: boolean): Decided<Batch> => ({ changes, atMs: nowMs, value: { runs, outcomes, isDone } });
  for (const [index, strategy] of dueNow.entries()) {
    if (index > 0 && clock.monotonicMs() >= endsAtMs) return written(false);
    const decided = decideSlots(context, strategy, { nowMs, rows, modes });
    changes.push(...decided.changes);
    outcomes.push(...decided.outcomes);
    runs.push(...decided.runs);
  }
  return written(true);
}

function decideSlots(
  context: EngineContext,
  strategy: LoadedStrategy,
  { nowMs, rows, modes }: { nowMs: number; rows: SlotRows; modes: ReadonlyMap<string, ModeRow> },
): DecidedSlots & { readonly runs: readonly string[] } {
  const { spec } = strategy;
  const handledMs = rows.lastSlots.get(spec.id) ?? nowMs;
  const barred = barredBy(modes, spec, halt(rows.differences, spec) !== undefined);
  const haltedUntilMs = Math.min(rows.accepted.get(spec.wallet.address) ?? 0, nowMs);
  const ended = rows.endedAhead.get(spec.id) ?? [];
  const moment = { handledMs, nowMs, ...barred, haltedUntilMs, isBusy: rows.busy.has(spec.id), ended };
  const plan = planSlots(spec, moment, context.deps.zones);
  const gaps = gapsOf(context, spec, { gaps: plan.gaps, handledMs, rows });
  const moved = { kind: "last-slot", strategyId: spec.id, lastSlotMs: plan.handledMs } as const;
  const last = plan.handledMs > handledMs ? [moved] : [];
  if (plan.run === undefined) return { changes: [...gaps.changes, ...last], outcomes: gaps.outcomes, runs: [] };
  const run = dueRun(context, strategy, plan.run);
  return {
    changes: [...gaps.changes, { kind: "run-due", run }, ...last],
    outcomes: [...gaps.outcomes, { kind: "run", strategy: spec.id, ...plan.run }],
    runs: [run.id],
  };
}

function isDue(context: EngineContext, spec: StrategySpec, at: { handledMs: number; nowMs: number }): boolean {
  const { zones } = context.deps;
  const slotMs = nextInstant(spec.schedule, at.handledMs, zones);
  const startMs = slotMs === undefined ? Number.POSITIVE_INFINITY : startOfSlot(spec, slotMs, zones);
  nextStart.set(spec, startMs);
  return startMs <= at.nowMs;
}

/**
 * Why a strategy starts no run now, because of its modes; and until when it started none, as far as the modes' rows
 * still report: what was due before the mode was set back to active is not made up for.
 */
function barredBy(
  modes: ReadonlyMap<string, ModeRow>,
  spec: StrategySpec,
  isHalted: boolean,
): { barred: Exclude<SlotReason, "overlap"> | undefined; barredUntilMs: number } {
  const rows = [modes.get(GLOBAL_SCOPE), modes.get(spec.id)].filter((row) => row !== undefined);
  const mode = rows.map((row) => row.mode).reduce(stricterMode, isHalted ? "halted" : "active");
  const resumedMs = rows.filter((row) => row.mode === "active").map((row) => row.atMs);
  return { barred: barringMode(mode, spec), barredUntilMs: Math.max(0, ...resumedMs) };
}

/** Why a strategy starts no run now: its mode forbids it, or it still has an open one. */
export function barredReason(rows: SlotRows, { spec }: LoadedStrategy): SlotReason | undefined {
  const isHalted = halt(rows.differences, spec) !== undefined;
  const { barred } = barredBy(new Map(rows.modes.map((row) => [row.scope, row])), spec, isHalted);
  return barred ?? (rows.busy.has(spec.id) ? "overlap" : undefined);
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
  return {
    id: ids.newId("run"),
    strategyId: spec.id,
    slotMs: due.slotMs,
    slots: due.slots,
    state: "due",
    reason: undefined,
    detail: due.detail,
    specHash,
    windowEndsMs: triedUntil(spec.schedule, { nowMs, forSeconds: spec.retryForSeconds }, zones),
    retries: 0,
    swaps: [],
  };
}
