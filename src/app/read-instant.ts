const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/**
 * Reads a day, which begins at midnight in UTC, or an instant with its zone: without one it would be of the machine's.
 * @returns undefined where it is neither, or a day that its month does not have, which Date.parse takes for one of the next
 */
export function readInstant(text: string): { readonly atMs: number; readonly isDay: boolean } | undefined {
  const isDay = DAY.test(text);
  const atMs = (isDay || INSTANT.test(text)) && isDayOfCalendar(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : { atMs, isDay };
}

/** Whether the day that a text begins with is one: 2026-02-30 is not. */
export function isDayOfCalendar(text: string): boolean {
  const day = text.slice(0, 10);
  const atMs = Date.parse(day);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day);
}
