import { DAY_MS, MINUTE_MS, SECOND_MS } from "../time/durations.ts";
import type { Schedule, WeekWindow, ZoneOffsets } from "./schedule.ts";
import { civilDay, wallAt } from "./wall-clock.ts";

/**
 * Windows and blackout dates of a schedule. It is open at an instant when the wall clock shows a time inside of a window
 * and a date that is not blacked out; without windows all times are inside.
 */

const MINUTES_OF_DAY = 24 * 60;

/** Steps from one possible change to the next, before a search gives up: years of windows and changes of the clock. */
const MAX_STEPS = 50_000;

/** Whether slots may lie, and runs may start, at an instant. */
export function isOpen(schedule: Schedule, instantMs: number, zones: ZoneOffsets): boolean {
  if (schedule.windows === undefined && schedule.blackouts === undefined) return true;
  return isOpenAtReading(schedule, wallAt(instantMs, zoneOf(schedule), zones));
}

/** The first instant after an open one at which the schedule is closed, but not later than `untilMs`. */
export function closingAfter(
  schedule: Schedule,
  range: { readonly openMs: number; readonly untilMs: number },
  zones: ZoneOffsets,
): number {
  if (schedule.windows === undefined && schedule.blackouts === undefined) return range.untilMs;
  let atMs = range.openMs;
  for (let steps = 0; steps < MAX_STEPS && atMs < range.untilMs; steps += 1) {
    atMs = nextPossibleChange(schedule, atMs, zones);
    if (!isOpen(schedule, atMs, zones)) return Math.min(atMs, range.untilMs);
  }
  return range.untilMs;
}

/**
 * Until when what begins at an instant may be tried, Unix milliseconds: for so long, and no longer than the schedule is open.
 * Where it is closed already a person asked for it, or it completes what began in time.
 */
export function triedUntil(
  schedule: Schedule,
  { nowMs, forSeconds }: { readonly nowMs: number; readonly forSeconds: number },
  zones: ZoneOffsets,
): number {
  const untilMs = nowMs + forSeconds * 1_000;
  return isOpen(schedule, nowMs, zones) ? closingAfter(schedule, { openMs: nowMs, untilMs }, zones) : untilMs;
}

/** The first instant after a closed one at which the schedule is open; undefined when none is found. */
export function openingAfter(schedule: Schedule, closedMs: number, zones: ZoneOffsets): number | undefined {
  let atMs = closedMs;
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    atMs = nextPossibleChange(schedule, atMs, zones);
    if (isOpen(schedule, atMs, zones)) return atMs;
  }
  return undefined;
}

function zoneOf(schedule: Schedule): string {
  return schedule.timezone ?? "UTC";
}

function isOpenAtReading(schedule: Schedule, wallMs: number): boolean {
  const dayNumber = Math.floor(wallMs / DAY_MS);
  const isBlackedOut = schedule.blackouts?.some(
    ({ firstDay, lastDay }) => firstDay <= dayNumber && dayNumber <= lastDay,
  );
  if (isBlackedOut === true) return false;
  return schedule.windows === undefined || isOpenAt(schedule.windows, wallMs);
}

/** Whether a reading of a wall clock lies in one of some windows. */
export function isOpenAt(windows: readonly WeekWindow[], wallMs: number): boolean {
  const dayNumber = Math.floor(wallMs / DAY_MS);
  const minute = (wallMs - dayNumber * DAY_MS) / MINUTE_MS;
  const { weekday } = civilDay(dayNumber);
  return windows.some((window) => isInside(window, { weekday, minute }));
}

function isInside(window: WeekWindow, reading: { weekday: number; minute: number }): boolean {
  const { days, fromMinute, untilMinute } = window;
  const { weekday, minute } = reading;
  if (untilMinute > fromMinute) return days.includes(weekday) && fromMinute <= minute && minute < untilMinute;
  const isEvening = days.includes(weekday) && fromMinute <= minute;
  const isMorningAfter = days.includes((weekday + 6) % 7) && minute < untilMinute;
  return isEvening || isMorningAfter;
}

/**
 * The next instant at which open may turn into closed or back: midnight, a bound of a window, or a change of the clock,
 * whichever comes first.
 */
function nextPossibleChange(schedule: Schedule, afterMs: number, zones: ZoneOffsets): number {
  const timezone = zoneOf(schedule);
  const wallMs = wallAt(afterMs, timezone, zones);
  const dayMs = Math.floor(wallMs / DAY_MS) * DAY_MS;
  let nextMinute = MINUTES_OF_DAY;
  for (const { fromMinute, untilMinute } of schedule.windows ?? []) {
    for (const minute of [fromMinute, untilMinute]) {
      if (dayMs + minute * MINUTE_MS > wallMs && minute < nextMinute) nextMinute = minute;
    }
  }
  const unchangedMs = afterMs + (dayMs + nextMinute * MINUTE_MS - wallMs);
  const offset = zones.offsetMinutes(timezone, afterMs);
  if (zones.offsetMinutes(timezone, unchangedMs) === offset) return unchangedMs;
  let low = Math.floor(afterMs / SECOND_MS);
  let high = Math.ceil(unchangedMs / SECOND_MS);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zones.offsetMinutes(timezone, middle * SECOND_MS) === offset) low = middle;
    else high = middle;
  }
  return high * SECOND_MS;
}
