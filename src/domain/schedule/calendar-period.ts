import { DAY_MS } from "../time/durations.ts";
import type { ZoneOffsets } from "./schedule.ts";
import { civilDay, dayNumberOf, instantOfWall, wallAt } from "./wall-clock.ts";

/** Periods of the calendar, from the shortest on. A week begins on Monday. */
export const CALENDAR_PERIODS = ["day", "week", "month"] as const;
export type CalendarPeriod = (typeof CALENDAR_PERIODS)[number];

/** One day, week or month of a zone's calendar. Unix milliseconds. */
export interface PeriodSpan {
  /** its first instant */
  readonly sinceMs: number;
  /** the first instant of the next one */
  readonly renewsMs: number;
  /** the day on which the next one begins, by the zone's calendar: 2026-11-30 */
  readonly renewsOn: string;
}

/**
 * The period of a zone's calendar that an instant lies in, from midnight to midnight of its wall clock. A midnight that
 * the clock skips is the first instant after the gap; one that it repeats is the first of the two.
 */
export function calendarPeriod(
  period: CalendarPeriod,
  { atMs, timezone }: { readonly atMs: number; readonly timezone: string },
  zones: ZoneOffsets,
): PeriodSpan {
  const today = Math.floor(wallAt(atMs, timezone, zones) / DAY_MS);
  const first = firstDay(period, today);
  const next = nextFirstDay(period, first);
  return {
    sinceMs: instantOfWall(first * DAY_MS, timezone, zones),
    renewsMs: instantOfWall(next * DAY_MS, timezone, zones),
    renewsOn: formatDay(next),
  };
}

function firstDay(period: CalendarPeriod, today: number): number {
  const { year, month, weekday } = civilDay(today);
  if (period === "day") return today;
  return period === "week" ? today - ((weekday + 6) % 7) : dayNumberOf({ year, month, day: 1 });
}

function nextFirstDay(period: CalendarPeriod, first: number): number {
  if (period === "day") return first + 1;
  if (period === "week") return first + 7;
  const { year, month } = civilDay(first);
  return month === 12
    ? dayNumberOf({ year: year + 1, month: 1, day: 1 })
    : dayNumberOf({ year, month: month + 1, day: 1 });
}

function formatDay(dayNumber: number): string {
  const { year, month, day } = civilDay(dayNumber);
  return [String(year), ...[month, day].map((part) => String(part).padStart(2, "0"))].join("-");
}
