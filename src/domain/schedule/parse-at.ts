import { DAY_NAMES } from "./parse-cron.ts";

/** A time of day on some days of the week (0 is Sunday), by the wall clock. */
export interface AtRule {
  readonly days: readonly number[];
  readonly hour: number;
  readonly minute: number;
}

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];

/**
 * Parses "09:00", "daily 09:00", "Mon 09:00", "Mon,Thu 09:00" and "Mon-Fri 09:00". Days are English, three letters or
 * more of the name. @returns the rule, or what is wrong
 */
export function parseAt(text: string): AtRule | { readonly problem: string } {
  const match = /^(?:(\S+)\s+)?([0-9]{1,2}):([0-9]{2})$/.exec(text.trim());
  if (match === null) return { problem: `"${text}" is no time of day such as "09:00", "Mon 09:00" or "Mon,Thu 09:00"` };
  const hour = Number(match[2]);
  const minute = Number(match[3]);
  if (hour > 23 || minute > 59)
    return { problem: `"${match[2]}:${match[3]}" is no time of day: hours run to 23, minutes to 59` };
  const dayText = (match[1] ?? "daily").toLowerCase();
  if (dayText === "daily") return { days: EVERY_DAY, hour, minute };
  const days = new Set<number>();
  for (const item of dayText.split(",")) {
    const [from, to = from] = item.split("-").map(dayNumber);
    if (from === undefined || to === undefined || item.split("-").length > 2) {
      return {
        problem: `"${item}" is no day: write Mon, Tue, Wed, Thu, Fri, Sat, Sun, a list Mon,Thu or a range Mon-Fri`,
      };
    }
    for (let day = from; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === to) break;
    }
  }
  return { days: [...days].sort((a, b) => a - b), hour, minute };
}

const FULL_NAMES = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

function dayNumber(name: string): number | undefined {
  const day = DAY_NAMES.indexOf(name.slice(0, 3));
  return day >= 0 && FULL_NAMES[day]?.startsWith(name) === true ? day : undefined;
}
