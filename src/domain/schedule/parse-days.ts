import { DAY_NAMES } from "./parse-cron.ts";

/** All days of the week; Sunday is 0. */
export const EVERY_DAY: readonly number[] = [0, 1, 2, 3, 4, 5, 6];

const FULL_NAMES = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/**
 * Parses days of the week: "daily", "Mon", "Mon,Thu", "Mon-Fri". Days are English, three letters or more of the name.
 * @returns the days, Sunday first, or what is wrong
 */
export function parseDays(text: string): readonly number[] | { readonly problem: string } {
  const dayText = text.toLowerCase();
  if (dayText === "daily") return EVERY_DAY;
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
  return [...days].sort((a, b) => a - b);
}

function dayNumber(name: string): number | undefined {
  const day = DAY_NAMES.indexOf(name.slice(0, 3));
  return day >= 0 && FULL_NAMES[day]?.startsWith(name) === true ? day : undefined;
}

/** Parses a time of day "09:00" into minutes since midnight. @returns undefined when it is none; 24:00 is one. */
export function parseTimeOfDay(text: string): number | undefined {
  const match = /^([0-9]{1,2}):([0-9]{2})$/.exec(text);
  const minutes = Number(match?.[1]) * 60 + Number(match?.[2]);
  return match !== null && Number(match[2]) <= 59 && minutes <= 24 * 60 ? minutes : undefined;
}
