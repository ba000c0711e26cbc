import { DAY_MS, MINUTE_MS } from "../time/durations.ts";
import { type CronPattern, parseCron } from "./parse-cron.ts";
import type { WallSchedule } from "./schedule.ts";
import { type CivilDay, civilDay, isMonthEnd } from "./wall-clock.ts";

const EVERY_DAY_OF_MONTH = Array.from({ length: 31 }, (_, index) => index + 1);
const EVERY_MONTH = Array.from({ length: 12 }, (_, index) => index + 1);

/** A leap day may be eight years away (1896 to 1904), and a weekday on it forty: a search gives up after this. */
const MAX_DAYS_SEARCHED = 41 * 366;

/** A cron pattern; `monthEndForLater` lets the last day of a month stand for days that the month does not have. */
export interface WallPattern extends CronPattern {
  readonly monthEndForLater?: boolean;
}

/**
 * The pattern of a wall-clock schedule.
 * @throws Error when a cron expression does not parse: configurations are checked when they are loaded
 */
export function patternOf(schedule: WallSchedule): WallPattern {
  if (schedule.kind === "at") {
    return {
      minutes: [schedule.minute],
      hours: [schedule.hour],
      daysOfMonth: schedule.monthDays ?? EVERY_DAY_OF_MONTH,
      months: EVERY_MONTH,
      daysOfWeek: schedule.days,
      eitherDay: false,
      monthEndForLater: schedule.monthDays !== undefined,
    };
  }
  const pattern = parseCron(schedule.expression);
  if ("problem" in pattern) throw new Error(`cron "${schedule.expression}": ${pattern.problem}`);
  return pattern;
}

/**
 * Whether the pattern names every hour. Such a pattern repeats within the hour or each hour, so it follows elapsed time:
 * it is due whenever the clock shows a matching reading, in both passes of a repeated hour, and a skipped hour owes none.
 */
export function followsElapsedTime(pattern: WallPattern): boolean {
  return pattern.hours.length === 24;
}

/** Whether the pattern admits a calendar day. */
export function admitsDay(pattern: WallPattern, day: CivilDay): boolean {
  if (!pattern.months.includes(day.month)) return false;
  const dayOfMonth = pattern.daysOfMonth.includes(day.day) || standsForLaterDay(pattern, day);
  const dayOfWeek = pattern.daysOfWeek.includes(day.weekday);
  return pattern.eitherDay ? dayOfMonth || dayOfWeek : dayOfMonth && dayOfWeek;
}

function standsForLaterDay(pattern: WallPattern, day: CivilDay): boolean {
  return pattern.monthEndForLater === true && (pattern.daysOfMonth.at(-1) ?? 0) > day.day && isMonthEnd(day);
}

/** The first matching wall-clock reading strictly after a reading; undefined when the pattern never occurs. */
export function nextWall(pattern: WallPattern, afterWallMs: number): number | undefined {
  const firstDay = Math.floor(afterWallMs / DAY_MS);
  const minuteOfDay = Math.floor((afterWallMs - firstDay * DAY_MS) / MINUTE_MS);
  for (let offset = 0; offset <= MAX_DAYS_SEARCHED; offset += 1) {
    const dayNumber = firstDay + offset;
    if (!admitsDay(pattern, civilDay(dayNumber))) continue;
    const minute = nextMinuteOfDay(pattern, offset === 0 ? minuteOfDay : -1);
    if (minute !== undefined) return dayNumber * DAY_MS + minute * MINUTE_MS;
  }
  return undefined;
}

function nextMinuteOfDay(pattern: WallPattern, afterMinute: number): number | undefined {
  const afterHour = Math.floor(afterMinute / 60);
  for (const hour of pattern.hours) {
    if (hour < afterHour) continue;
    const minute = pattern.minutes.find((candidate) => hour * 60 + candidate > afterMinute);
    if (minute !== undefined) return hour * 60 + minute;
  }
  return undefined;
}
