import { InvalidArgumentError } from "commander";
import { DAY_MS } from "../../domain/time/durations.ts";

/** A day, or an instant with its zone. */
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** From when on. @throws InvalidArgumentError when it is no day and no instant */
export function sinceMs(text: string): number {
  return readInstant(text);
}

/** Up to when: a day counts whole. @throws InvalidArgumentError when it is no day and no instant */
export function untilMs(text: string): number {
  return readInstant(text) + (DAY.test(text) ? DAY_MS : 0);
}

function readInstant(text: string): number {
  const isDay = DAY.test(text);
  const atMs = isDay || INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  // A day that the month does not have becomes one of the next month.
  const isThere = !isDay || (!Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text));
  if (!Number.isNaN(atMs) && isThere) return atMs;
  const message = `${JSON.stringify(text)} is no day and no instant; write 2026-01-31 (in UTC) or 2026-01-31T09:00:00+01:00`;
  throw new InvalidArgumentError(message);
}
