import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../time/durations.ts";
import type { ZoneOffsets } from "./schedule.ts";

/**
 * Wall-clock readings are written as milliseconds too: the Unix time at which a clock in UTC would show the reading.
 * This file turns readings of a time zone into instants and back.
 */

/** No zone is further than this from UTC, and none repeats or drops more than a day. */
const WINDOW_MS = 26 * HOUR_MS;

/** What the wall clock of the zone shows at an instant. */
export function wallAt(instantMs: number, timezone: string, zones: ZoneOffsets): number {
  return instantMs + zones.offsetMinutes(timezone, instantMs) * MINUTE_MS;
}

/**
 * The instant at which the zone's wall clock shows a reading. A reading that a forward change skips gives the first
 * instant after the gap; one that a backward change repeats gives the first of the two.
 */
export function instantOfWall(wallMs: number, timezone: string, zones: ZoneOffsets): number {
  const before = zones.offsetMinutes(timezone, wallMs - WINDOW_MS) * MINUTE_MS;
  const after = zones.offsetMinutes(timezone, wallMs + WINDOW_MS) * MINUTE_MS;
  for (const instantMs of [wallMs - Math.max(before, after), wallMs - Math.min(before, after)]) {
    if (wallAt(instantMs, timezone, zones) === wallMs) return instantMs;
  }
  return endOfGap(
    { wallMs, lowMs: wallMs - Math.max(before, after), highMs: wallMs - Math.min(before, after) },
    timezone,
    zones,
  );
}

/** Bisects to the first whole second at which the wall clock is past a reading that it never shows. */
function endOfGap(
  gap: { wallMs: number; lowMs: number; highMs: number },
  timezone: string,
  zones: ZoneOffsets,
): number {
  let low = Math.floor(gap.lowMs / SECOND_MS);
  let high = Math.ceil(gap.highMs / SECOND_MS);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (wallAt(middle * SECOND_MS, timezone, zones) > gap.wallMs) high = middle;
    else low = middle;
  }
  return high * SECOND_MS;
}

/** A calendar day. `month` is 1..12, `weekday` 0 (Sunday) .. 6. */
export interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
}

/**
 * Calendar day of a day number counted from 1970-01-01, in the Gregorian calendar.
 * Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
 */
export function civilDay(dayNumber: number): CivilDay {
  const shifted = dayNumber + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
    weekday: (((dayNumber + 4) % 7) + 7) % 7,
  };
}

/** Day number of a calendar day, counted from 1970-01-01. Same source: days_from_civil. */
export function dayNumberOf(date: Omit<CivilDay, "weekday">): number {
  const year = date.month <= 2 ? date.year - 1 : date.year;
  const era = Math.floor(year / 400);
  const yearOfEra = year - era * 400;
  const monthFromMarch = date.month > 2 ? date.month - 3 : date.month + 9;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + date.day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a calendar day is the last one of its month. */
export function isMonthEnd({ year, month, day }: CivilDay): boolean {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day === (month === 2 && isLeapYear ? 29 : MONTH_LENGTHS[month - 1]);
}
