import { type CronPattern, parseCron } from "./parse-cron.ts";
import type { Schedule } from "./schedule.ts";
import { type CivilDay, civilDay, DAY_MS } from "./wall-clock.ts";

const EVERY_DAY_OF_MONTH = Array.from({ length: 31 }, (_, index) => index + 1);
const EVERY_MONTH = Array.from({ length: 12 }, (_, index) => index + 1);
const CACHE_LIMIT = 20_000;

/** A leap day may be eight years away (1896 to 1904), and a weekday on it forty: a search gives up after this. */
const MAX_DAYS_SEARCHED = 41 * 366;

const parsed = new Map<string, CronPattern>();

/**
 * The pattern of a wall-clock schedule.
 * @throws Error when a cron expression does not parse: configurations are checked when they are loaded
 */
export function patternOf(schedule: Exclude<Schedule, { kind: "every" }>): CronPattern {
  if (schedule.kind === "at") {
    return {
      minutes: [schedule.minute],
      hours: [schedule.hour],
      daysOfMonth: EVERY_DAY_OF_MONTH,
      months: EVERY_MONTH,
      daysOfWeek: schedule.days,
      eitherDay: false,
    };
  }
  const known = parsed.get(schedule.expression);
  if (known !== undefined) return known;
  const pattern = parseCron(schedule.expression);
  if ("problem" in pattern) throw new Error(`cron "${schedule.expression}": ${pattern.problem}`);
  if (parsed.size >= CACHE_LIMIT) parsed.clear();
  parsed.set(schedule.expression, pattern);
  return pattern;
}

/**
 * Whether the pattern names every hour. Such a pattern repeats within the hour or each hour, so it follows elapsed time:
 * it is due whenever the clock shows a matching reading, in both passes of a repeated hour, and a skipped hour owes none.
 */
export function followsElapsedTime(pattern: CronPattern): boolean {
  return pattern.hours.length === 24;
}

/** Whether the pattern admits a calendar day. */
export function admitsDay(pattern: CronPattern, day: CivilDay): boolean {
  if (!pattern.months.includes(day.month)) return false;
  const dayOfMonth = pattern.daysOfMonth.includes(day.day);
  const dayOfWeek = pattern.daysOfWeek.includes(day.weekday);
  return pattern.eitherDay ? dayOfMonth || dayOfWeek : dayOfMonth && dayOfWeek;
}

/** The first matching wall-clock reading strictly after a reading; undefined when the pattern never occurs. */
export function nextWall(pattern: CronPattern, afterWallMs: number): number | undefined {
  const firstDay = Math.floor(afterWallMs / DAY_MS);
  const minuteOfDay = Math.floor((afterWallMs - firstDay * DAY_MS) / 60_000);
  for (let offset = 0; offset <= MAX_DAYS_SEARCHED; offset += 1) {
    const dayNumber = firstDay + offset;
    if (!admitsDay(pattern, civilDay(dayNumber))) continue;
    const minute = nextMinuteOfDay(pattern, offset === 0 ? minuteOfDay : -1);
    if (minute !== undefined) return dayNumber * DAY_MS + minute * 60_000;
  }
  return undefined;
}

function nextMinuteOfDay(pattern: CronPattern, afterMinute: number): number | undefined {
  const afterHour = Math.floor(afterMinute / 60);
  for (const hour of pattern.hours) {
    if (hour < afterHour) continue;
    const minute = pattern.minutes.find((candidate) => hour * 60 + candidate > afterMinute);
    if (minute !== undefined) return hour * 60 + minute;
  }
  return undefined;
}
