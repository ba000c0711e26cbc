import type { SlotReason } from "../run/reasons.ts";
import { HOUR_MS } from "../time/durations.ts";
import { type EndedSlots, hasEnd } from "./ended-slots.ts";
import { nextInstant } from "./next-instants.ts";
import { isOpen } from "./opening-hours.ts";
import type { Schedule, ZoneOffsets } from "./schedule.ts";
import { type SlotOwner, startOfSlot } from "./slot-jitter.ts";
import { countInstants, newestInstant } from "./slot-range.ts";

const SIX_HOURS_MS = 6 * HOUR_MS;

/** A tick comes a little late even on a healthy machine: a slot this young is never called missed. */
const TICK_GRACE_MS = 10_000;

/** Neighbouring slots that got no run: one row instead of many. */
export interface SlotStretch {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** Neighbouring slots that end alike, with the word for it. */
export interface SlotGap extends SlotStretch {
  readonly reason: SlotReason;
}

/** What applies when slots are computed. */
export interface SlotMoment {
  /** the last slot that has its run or its end */
  readonly handledMs: number;
  readonly nowMs: number;
  /** why no run may start now, undefined when one may */
  readonly barred: SlotReason | undefined;
  /** runs were barred until then: slots that started before are never caught up */
  readonly barredUntilMs: number;
  /** the same, because of what another database did, which a person accepted then: it may have filled such slots */
  readonly haltedUntilMs: number;
  /** the strategy still has an open run */
  readonly isBusy: boolean;
  /** slots after the last handled one that have their run or end: none of them gets another */
  readonly ended: readonly EndedSlots[];
}

/** What the slots since the last handled one come to. */
export interface SlotPlan {
  /** slots that end without a run, oldest first, all of them before the one that runs or after the last handled one */
  readonly gaps: readonly SlotGap[];
  /** the slot that runs now, and for how many slots it stands */
  readonly run: { readonly slotMs: number; readonly slots: number } | undefined;
  /** from here on slots are still to come: what the caller remembers as handled */
  readonly handledMs: number;
}

/**
 * Gives each slot that has started an end, a run, or (with `all` and `accumulate`, while a run is open) leaves it
 * waiting. A clock that stands before `handledMs` yields nothing, so it can never repeat a slot.
 */
export function planSlots(strategy: SlotOwner, moment: SlotMoment, zones: ZoneOffsets): SlotPlan {
  const { handledMs, nowMs, barred } = moment;
  const { schedule } = strategy;
  const firstMs = nextInstant(schedule, handledMs, zones);
  if (firstMs === undefined || firstMs > nowMs) return { gaps: [], run: undefined, handledMs };
  const newestMs = newestStarted(strategy, { firstMs, nowMs }, zones);
  if (newestMs === undefined) return { gaps: [], run: undefined, handledMs };
  const inTime = slotsInTime(strategy, { firstMs, newestMs, moment }, zones);
  const missed = stretchBefore(schedule, { firstMs, endMs: inTime[0] ?? newestMs + 1 }, zones);
  // What waits for an open run grows too old one by one, and is as little traded as what did not wait. Where several did
  // at once: no process was there to see it.
  const why: SlotReason = moment.isBusy && waits(strategy) && missed?.count === 1 ? "overlap" : "missed";
  const gaps: SlotGap[] = missed === undefined ? [] : [{ ...missed, reason: why }];
  if (barred !== undefined) return { gaps: [...gaps, ...endAs(inTime, barred)], run: undefined, handledMs: newestMs };
  const startedBefore = (ms: number, slots: readonly number[]): readonly number[] =>
    slots.filter((slotMs) => startOfSlot(strategy, slotMs, zones) < ms);
  const halted = startedBefore(moment.haltedUntilMs, inTime);
  const paused = startedBefore(moment.barredUntilMs, inTime.slice(halted.length));
  gaps.push(...endAs(halted, "halted"), ...endAs(paused, "paused"));
  const eligible = inTime.slice(halted.length + paused.length);
  if (eligible.length === 0) return { gaps, run: undefined, handledMs: newestMs };
  return startOne(strategy, { eligible, gaps, moment }, zones);
}

/** Whether slots wait while a run is open. */
function waits({ catchUp }: Pick<SlotOwner, "catchUp">): boolean {
  return catchUp.policy === "all" || catchUp.policy === "accumulate";
}

/** Lets one of the slots that may still start become a run, if the strategy is free and its windows are open. */
function startOne(
  { schedule, catchUp, id }: SlotOwner,
  slots: { eligible: readonly number[]; gaps: readonly SlotGap[]; moment: SlotMoment },
  zones: ZoneOffsets,
): SlotPlan {
  const { eligible, gaps, moment } = slots;
  const oldestMs = eligible[0] ?? moment.handledMs;
  const newestMs = eligible.at(-1) ?? moment.handledMs;
  const isOnTime = moment.nowMs - startOfSlot({ schedule, catchUp, id }, newestMs, zones) <= TICK_GRACE_MS;
  if (!isOnTime && !isOpen(schedule, moment.nowMs, zones)) {
    return { gaps: [...gaps, ...endAs(eligible, "outside_window")], run: undefined, handledMs: newestMs };
  }
  if (moment.isBusy && waits({ catchUp }))
    return { gaps, run: undefined, handledMs: gaps.at(-1)?.lastMs ?? moment.handledMs };
  if (moment.isBusy) return { gaps: [...gaps, ...endAs(eligible, "overlap")], run: undefined, handledMs: newestMs };
  if (catchUp.policy === "all") return { gaps, run: { slotMs: oldestMs, slots: 1 }, handledMs: oldestMs };
  const accumulated = endAs(eligible.slice(0, -1), "accumulated");
  const run = { slotMs: newestMs, slots: eligible.length };
  return { gaps: [...gaps, ...accumulated], run, handledMs: newestMs };
}

function endAs(slots: readonly number[], reason: SlotReason): readonly SlotGap[] {
  const firstMs = slots[0];
  const lastMs = slots.at(-1);
  return firstMs === undefined || lastMs === undefined ? [] : [{ firstMs, lastMs, count: slots.length, reason }];
}

/** The newest slot that has started. Slots start in their order, so only the newest one may still be delayed. */
function newestStarted(
  strategy: SlotOwner,
  range: { firstMs: number; nowMs: number },
  zones: ZoneOffsets,
): number | undefined {
  const { firstMs, nowMs } = range;
  const newestMs = newestInstant(strategy.schedule, { fromMs: firstMs, untilMs: nowMs }, zones);
  if (startOfSlot(strategy, newestMs, zones) <= nowMs) return newestMs;
  if (newestMs === firstMs) return undefined;
  return newestInstant(strategy.schedule, { fromMs: firstMs, untilMs: newestMs - 1 }, zones);
}

/** The newest slots that are young enough to start, at most as many as the policy takes, oldest first. */
function slotsInTime(
  strategy: SlotOwner,
  range: { firstMs: number; newestMs: number; moment: Pick<SlotMoment, "nowMs" | "ended"> },
  zones: ZoneOffsets,
): readonly number[] {
  const { policy, maxRuns, maxMultiple } = strategy.catchUp;
  const beginsMs = policy === "accumulate" ? (strategy.startMs ?? 0) : 0;
  const limit = policy === "all" ? maxRuns : policy === "accumulate" ? maxMultiple : 1;
  const { firstMs } = range;
  const { nowMs, ended } = range.moment;
  const found: number[] = [];
  let slotMs = range.newestMs;
  while (found.length < limit) {
    if (nowMs - startOfSlot(strategy, slotMs, zones) > catchUpWindowMs(strategy, slotMs, zones)) break;
    // A run that trades stands for no slot that would have traded nothing.
    if (slotMs < beginsMs && beginsMs <= range.newestMs) break;
    if (!hasEnd(ended, slotMs)) found.unshift(slotMs);
    if (slotMs <= firstMs) break;
    slotMs = newestInstant(strategy.schedule, { fromMs: firstMs, untilMs: slotMs - 1 }, zones);
  }
  return found;
}

/** How late a slot may still start; at least a late tick's worth. */
function catchUpWindowMs({ schedule, catchUp }: SlotOwner, slotMs: number, zones: ZoneOffsets): number {
  if (catchUp.policy === "skip") return TICK_GRACE_MS;
  if (catchUp.windowSeconds !== undefined) return Math.max(catchUp.windowSeconds * 1_000, TICK_GRACE_MS);
  const nextMs = nextInstant(schedule, slotMs, zones);
  const half = nextMs === undefined ? SIX_HOURS_MS : Math.floor((nextMs - slotMs) / 2);
  return Math.max(Math.min(half, SIX_HOURS_MS), TICK_GRACE_MS);
}

function stretchBefore(
  schedule: Schedule,
  range: { firstMs: number; endMs: number },
  zones: ZoneOffsets,
): SlotStretch | undefined {
  const { firstMs, endMs } = range;
  if (firstMs >= endMs) return undefined;
  const lastMs = newestInstant(schedule, { fromMs: firstMs, untilMs: endMs - 1 }, zones);
  return { firstMs, lastMs, count: countInstants(schedule, { firstMs, lastMs }, zones) };
}

/** All slots after one instant and up to another, as one stretch; undefined when there are none. */
export function slotsBetween(
  schedule: Schedule,
  range: { readonly afterMs: number; readonly untilMs: number },
  zones: ZoneOffsets,
): SlotStretch | undefined {
  const firstMs = nextInstant(schedule, range.afterMs, zones);
  if (firstMs === undefined || firstMs > range.untilMs) return undefined;
  return stretchBefore(schedule, { firstMs, endMs: range.untilMs + 1 }, zones);
}

/** The parts of a stretch whose slots have neither, so that no slot gets a second end. `ended`: the earliest first. */
export function withoutEnded(
  schedule: Schedule,
  stretch: SlotStretch,
  ended: readonly EndedSlots[],
  zones: ZoneOffsets,
): readonly SlotStretch[] {
  const within = ended.filter(({ firstMs, lastMs }) => lastMs >= stretch.firstMs && firstMs <= stretch.lastMs);
  if (within.length === 0) return [stretch];
  const parts: SlotStretch[] = [];
  let afterMs = stretch.firstMs - 1;
  for (const { firstMs, lastMs } of [...within, { firstMs: stretch.lastMs + 1, lastMs: stretch.lastMs + 1 }]) {
    const part = slotsBetween(schedule, { afterMs, untilMs: firstMs - 1 }, zones);
    if (part !== undefined) parts.push(part);
    afterMs = Math.max(afterMs, lastMs);
  }
  return parts;
}
