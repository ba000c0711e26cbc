import { EVERY_DAY, parseDays, parseTimeOfDay } from "./parse-days.ts";

/** A time of day on some days of the week (0 is Sunday), or on some days of the month, by the wall clock. */
export interface AtRule {
  readonly days: readonly number[];
  /** 31 is the last day of every month */
  readonly monthDays?: readonly number[];
  readonly hour: number;
  readonly minute: number;
}

const LAST_DAY = 31;
/** What has the look of one. */
const CRON = /^\s*[\d*][\d*,/-]*(?:\s+\S+){3,6}\s*$/;

/**
 * Parses "09:00", "daily 09:00", "Mon 09:00", "Mon,Thu 09:00", "Mon-Fri 09:00" and, monthly, "1st 09:00", "1st,15th
 * 09:00" and "last 09:00". @returns the rule, or what is wrong
 */
export function parseAt(text: string): AtRule | { readonly problem: string } {
  const match = /^(?:(\S+)\s+)?([0-9]{1,2}:[0-9]{2})$/.exec(text.trim());
  const [, dayText = "daily", timeText = ""] = match ?? [];
  if (match === null) {
    const cron = CRON.test(text) ? "; a cron line goes into `cron`, with five fields" : "";
    return {
      problem: `"${text}" is no time of day such as "09:00", "Mon 09:00", "Mon,Thu 09:00" or "1st 09:00"${cron}`,
    };
  }
  const minutes = parseTimeOfDay(timeText);
  if (minutes === undefined || minutes >= 24 * 60)
    return { problem: `"${timeText}" is no time of day: hours run to 23, minutes to 59` };
  const time = { hour: Math.floor(minutes / 60), minute: minutes % 60 };
  if (/^[0-9]|^last\b/i.test(dayText)) {
    const monthDays = parseMonthDays(dayText);
    return "problem" in monthDays ? monthDays : { days: EVERY_DAY, monthDays, ...time };
  }
  const days = parseDays(dayText);
  return "problem" in days ? days : { days, ...time };
}

function parseMonthDays(text: string): readonly number[] | { readonly problem: string } {
  const days = new Set<number>();
  for (const item of text.toLowerCase().split(",")) {
    const day = item === "last" ? LAST_DAY : Number(/^([0-9]{1,2})(?:st|nd|rd|th)$/.exec(item)?.[1]);
    if (!(day >= 1 && day <= LAST_DAY)) {
      return { problem: `"${item}" is no day of the month: write 1st to 31st, last, or a list 1st,15th` };
    }
    days.add(day);
  }
  return [...days].sort((a, b) => a - b);
}
