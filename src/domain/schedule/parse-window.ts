import { EVERY_DAY, parseDays, parseTimeOfDay } from "./parse-days.ts";
import type { DayRange, WeekWindow } from "./schedule.ts";
import { civilDay, dayNumberOf } from "./wall-clock.ts";

/** Parses "09:00-17:00" and "Mon-Fri 09:00-17:00"; "22:00-06:00" ends on the next day. @returns what is wrong else */
export function parseWindow(text: string): WeekWindow | { readonly problem: string } {
  const match = /^(?:(\S+)\s+)?([0-9:]+)\s?-\s?([0-9:]+)$/.exec(text.trim());
  const fromMinute = parseTimeOfDay(match?.[2] ?? "");
  const untilMinute = parseTimeOfDay(match?.[3] ?? "");
  if (fromMinute === undefined || untilMinute === undefined || fromMinute === 24 * 60) {
    return { problem: `"${text}" is no window such as "09:00-17:00" or "Mon-Fri 09:00-17:00"` };
  }
  if (fromMinute === untilMinute) return { problem: `"${text}" is empty: the whole day is "00:00-24:00"` };
  const days = match?.[1] === undefined ? EVERY_DAY : parseDays(match[1]);
  return "problem" in days ? days : { days, fromMinute, untilMinute };
}

/** Parses "2026-12-24" and "2026-12-24..2027-01-02", both days included. @returns what is wrong else */
export function parseBlackout(text: string): DayRange | { readonly problem: string } {
  const [firstText = "", lastText = firstText, ...more] = text.trim().split("..");
  const firstDay = parseDate(firstText);
  const lastDay = parseDate(lastText);
  if (firstDay === undefined || lastDay === undefined || more.length > 0) {
    return { problem: `"${text}" is no date such as "2026-12-24" and no range "2026-12-24..2027-01-02"` };
  }
  if (firstDay > lastDay) return { problem: `"${text}" runs backwards: the first day comes first` };
  return { firstDay, lastDay };
}

function parseDate(text: string): number | undefined {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (match === null) return undefined;
  const date = { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
  if (date.month < 1 || date.month > 12 || date.day < 1 || date.day > 31) return undefined;
  const dayNumber = dayNumberOf(date);
  const back = civilDay(dayNumber);
  return back.month === date.month && back.day === date.day ? dayNumber : undefined;
}
