import { nextInstant } from "../domain/schedule/next-instants.ts";
import type { Schedule, WeekWindow, ZoneOffsets } from "../domain/schedule/schedule.ts";
import { wallAt } from "../domain/schedule/wall-clock.ts";
import { DAY_MS, MINUTE_MS } from "../domain/time/durations.ts";

/** Slots of one year, always the same: what is judged by today would be judged otherwise tomorrow. */
const SEARCH_FROM_MS = Date.parse("2024-01-01");
const SEARCH_UNTIL_MS = SEARCH_FROM_MS + 366 * DAY_MS;
/** Of a schedule that is due often, so many slots are looked at, and these are some minutes apart. */
const MOST_SLOTS = 500;
const APART_MS = 10 * MINUTE_MS;

/** Hours of each day, by the wall clock of a zone. */
interface QuietHours {
  readonly hours: readonly WeekWindow[];
  readonly timezone: string;
}

/**
 * How much of the quiet hours that all have in common is left at the first slot where it is at least so much, in
 * milliseconds; undefined where no slot, and no delay by jitter, comes to that.
 * @param hours of each day, at least one
 */
export function quietLeftAtSlot(
  schedule: Schedule,
  { hours, timezone }: QuietHours,
  atLeastMs: number,
  zones: ZoneOffsets,
): number | undefined {
  if (Math.min(...hours.map(lengthOf)) < atLeastMs) return undefined;
  const latestMs = (schedule.jitterSeconds ?? 0) * 1_000;
  let slotMs = nextInstant(schedule, SEARCH_FROM_MS, zones);
  for (let looks = 0; looks < MOST_SLOTS && slotMs !== undefined && slotMs < SEARCH_UNTIL_MS; looks += 1) {
    for (const atMs of [slotMs, slotMs + latestMs]) {
      const wallMs = wallAt(atMs, timezone, zones);
      const leftMs = Math.min(...hours.map((window) => leftOf(window, wallMs)));
      if (leftMs >= atLeastMs) return leftMs;
    }
    slotMs = nextInstant(schedule, slotMs + APART_MS - 1, zones);
  }
  return undefined;
}

function lengthOf({ fromMinute, untilMinute }: WeekWindow): number {
  return withinDay((untilMinute - fromMinute) * MINUTE_MS);
}

/** What is left of a window at a reading of the clock, in milliseconds; 0 outside of it. */
function leftOf(window: WeekWindow, wallMs: number): number {
  const leftMs = withinDay(window.untilMinute * MINUTE_MS - wallMs);
  return leftMs <= lengthOf(window) ? leftMs : 0;
}

function withinDay(ms: number): number {
  return ((ms % DAY_MS) + DAY_MS) % DAY_MS;
}
