import { nextInstant } from "./next-instants.ts";
import type { CronPattern } from "./parse-cron.ts";
import type { Schedule, ZoneOffsets } from "./schedule.ts";
import { DAY_MS, wallAt } from "./wall-clock.ts";
import { patternOf } from "./wall-pattern.ts";

const HOUR_MS = 3_600_000;
const SIX_HOURS_MS = 6 * HOUR_MS;

/** A tick comes a little late even on a healthy machine: a slot this young is never called missed. */
const TICK_GRACE_MS = 10_000;

/** Neighbouring slots that were missed and end alike: one row instead of many. */
export interface MissedSlots {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  /** counting stopped at the limit: there were at least `count` */
  readonly atLeast: boolean;
}

/** What the slots since the last handled one come to. */
export interface SlotPlan {
  /** the slot that runs now */
  readonly dueMs: number | undefined;
  /** slots that end `skipped_missed`; all of them lie before `dueMs` */
  readonly missed: MissedSlots | undefined;
  /** from here on slots are still to come: what the caller remembers as handled */
  readonly handledMs: number;
}

/**
 * Which slot runs now and which were missed (catch-up policy `latest`): of the slots after `handledMs` up to `nowMs` only
 * the newest may still run, and only while it is younger than the window: half of the time to its next slot, at most six
 * hours. All others were missed. A clock that stands before `handledMs` yields nothing, so it can never repeat a slot.
 * @param countLimit counting of missed slots stops here
 */
export function planSlots(
  schedule: Schedule,
  at: { readonly handledMs: number; readonly nowMs: number },
  zones: ZoneOffsets,
  countLimit: number,
): SlotPlan {
  const firstMs = nextInstant(schedule, at.handledMs, zones);
  if (firstMs === undefined || firstMs > at.nowMs)
    return { dueMs: undefined, missed: undefined, handledMs: at.handledMs };
  const newestMs = newestInstant(schedule, { fromMs: firstMs, untilMs: at.nowMs }, zones);
  const runs = at.nowMs - newestMs <= catchUpWindowMs(schedule, newestMs, zones);
  const dueMs = runs ? newestMs : undefined;
  if (runs && newestMs === firstMs) return { dueMs, missed: undefined, handledMs: newestMs };
  const lastMs = runs ? newestInstant(schedule, { fromMs: firstMs, untilMs: newestMs - 1 }, zones) : newestMs;
  const { count, atLeast } = countInstants(schedule, { firstMs, lastMs }, zones, countLimit);
  return { dueMs, missed: { firstMs, lastMs, count, atLeast }, handledMs: newestMs };
}

/** How late a slot may still start: half of the time to its next slot, at most six hours, at least a late tick's worth. */
function catchUpWindowMs(schedule: Schedule, slotMs: number, zones: ZoneOffsets): number {
  const nextMs = nextInstant(schedule, slotMs, zones);
  const half = nextMs === undefined ? SIX_HOURS_MS : Math.floor((nextMs - slotMs) / 2);
  return Math.max(Math.min(half, SIX_HOURS_MS), TICK_GRACE_MS);
}

/** The newest instant in a range whose start is known to be one. Looks back from the end in growing steps. */
function newestInstant(schedule: Schedule, range: { fromMs: number; untilMs: number }, zones: ZoneOffsets): number {
  if (schedule.kind === "every") {
    const periodMs = schedule.seconds * 1_000;
    return Math.floor(range.untilMs / periodMs) * periodMs;
  }
  for (let lookBackMs = HOUR_MS; ; lookBackMs *= 24) {
    const startMs = range.untilMs - lookBackMs;
    let newestMs = startMs < range.fromMs ? range.fromMs : nextInstant(schedule, startMs, zones);
    if (newestMs === undefined || newestMs > range.untilMs) continue;
    for (let next = nextInstant(schedule, newestMs, zones); next !== undefined && next <= range.untilMs; ) {
      newestMs = next;
      next = nextInstant(schedule, newestMs, zones);
    }
    return newestMs;
  }
}

/** Counts instants from a first to a last one, both included. Whole days on an unchanged clock are counted at once. */
function countInstants(
  schedule: Schedule,
  range: { firstMs: number; lastMs: number },
  zones: ZoneOffsets,
  limit: number,
): { count: number; atLeast: boolean } {
  if (schedule.kind === "every") {
    const count = (range.lastMs - range.firstMs) / (schedule.seconds * 1_000) + 1;
    return { count: Math.min(count, limit), atLeast: count > limit };
  }
  const pattern = patternOf(schedule);
  let count = 0;
  let next: number | undefined = range.firstMs;
  while (next !== undefined && next <= range.lastMs) {
    if (count >= limit) return { count: limit, atLeast: true };
    const quietDay = quietDayFrom(pattern, { instantMs: next, timezone: schedule.timezone }, zones);
    const wholeDay = quietDay !== undefined && quietDay.endMs <= range.lastMs;
    count += wholeDay ? quietDay.count : 1;
    next = nextInstant(schedule, wholeDay ? quietDay.endMs - 1 : next, zones);
  }
  return { count: Math.min(count, limit), atLeast: count > limit };
}

/** When an instant is the first of its day by the wall clock, and no change of the clock falls into that day. */
function quietDayFrom(
  pattern: CronPattern,
  first: { instantMs: number; timezone: string },
  zones: ZoneOffsets,
): { endMs: number; count: number } | undefined {
  const wallMs = wallAt(first.instantMs, first.timezone, zones);
  const offsetMs = wallMs - first.instantMs;
  const startMs = Math.floor(wallMs / DAY_MS) * DAY_MS - offsetMs;
  const endMs = startMs + DAY_MS;
  const firstMinute = (pattern.hours[0] ?? 0) * 60 + (pattern.minutes[0] ?? 0);
  const changes = [startMs, endMs].some((atMs) => wallAt(atMs, first.timezone, zones) - atMs !== offsetMs);
  if (changes || first.instantMs - startMs !== firstMinute * 60_000) return undefined;
  return { endMs, count: pattern.hours.length * pattern.minutes.length };
}
