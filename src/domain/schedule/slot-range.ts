import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/durations.ts";
import { nextInstant } from "./next-instants.ts";
import { closingAfter } from "./opening-hours.ts";
import type { ElapsedSchedule, Schedule, ZoneOffsets } from "./schedule.ts";
import { wallAt } from "./wall-clock.ts";
import { patternOf, type WallPattern } from "./wall-pattern.ts";

/** Counting stops here: a daemon that was down for so many slots need not know their number. */
const COUNT_LIMIT = 1_000_000;

/** The newest instant in a range whose start is known to be one. Searches back from the end in growing steps. */
export function newestInstant(
  schedule: Schedule,
  range: { readonly fromMs: number; readonly untilMs: number },
  zones: ZoneOffsets,
): number {
  if (isPlain(schedule)) {
    const periodMs = schedule.seconds * 1_000;
    return range.untilMs - ((range.untilMs - range.fromMs) % periodMs);
  }
  for (let lookbackMs = HOUR_MS; ; lookbackMs *= 4) {
    const startMs = range.untilMs - lookbackMs;
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
export function countInstants(
  schedule: Schedule,
  range: { readonly firstMs: number; readonly lastMs: number },
  zones: ZoneOffsets,
): number {
  if (isPlain(schedule)) return (range.lastMs - range.firstMs) / (schedule.seconds * 1_000) + 1;
  let count = 0;
  let next: number | undefined = range.firstMs;
  while (next !== undefined && next <= range.lastMs && count < COUNT_LIMIT) {
    const stretch = stretchFrom(schedule, next, zones);
    const isWhole = stretch !== undefined && stretch.endMs <= range.lastMs;
    count += isWhole ? stretch.count : 1;
    next = nextInstant(schedule, isWhole ? stretch.endMs - 1 : next, zones);
  }
  return Math.min(count, COUNT_LIMIT);
}

function isPlain(schedule: Schedule): schedule is ElapsedSchedule {
  return schedule.kind === "every" && schedule.windows === undefined && schedule.blackouts === undefined;
}

/** A stretch from an instant on, to the next instant or the end of a longer time, whose instants need no search. */
function stretchFrom(
  schedule: Schedule,
  instantMs: number,
  zones: ZoneOffsets,
): { endMs: number; count: number } | undefined {
  if (schedule.kind === "every") {
    const endMs = closingAfter(schedule, { openMs: instantMs, untilMs: instantMs + DAY_MS }, zones);
    return { endMs, count: Math.ceil((endMs - instantMs) / (schedule.seconds * 1_000)) };
  }
  if (schedule.windows !== undefined || schedule.blackouts !== undefined) return undefined;
  return quietDayFrom(patternOf(schedule), { instantMs, timezone: schedule.timezone }, zones);
}

/** When an instant is the first of its day by the wall clock, and no change of the clock falls into that day. */
function quietDayFrom(
  pattern: WallPattern,
  first: { instantMs: number; timezone: string },
  zones: ZoneOffsets,
): { endMs: number; count: number } | undefined {
  const wallMs = wallAt(first.instantMs, first.timezone, zones);
  const offsetMs = wallMs - first.instantMs;
  const startMs = Math.floor(wallMs / DAY_MS) * DAY_MS - offsetMs;
  const endMs = startMs + DAY_MS;
  const firstMinute = (pattern.hours[0] ?? 0) * 60 + (pattern.minutes[0] ?? 0);
  const changes = [startMs, endMs].some((atMs) => wallAt(atMs, first.timezone, zones) - atMs !== offsetMs);
  if (changes || first.instantMs - startMs !== firstMinute * MINUTE_MS) return undefined;
  return { endMs, count: pattern.hours.length * pattern.minutes.length };
}
