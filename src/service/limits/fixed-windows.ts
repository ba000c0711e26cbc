import type { Clock } from "../../ports/clock.ts";

/** What a caller may still do in the current second. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** after this request */
  readonly remaining: number;
}

/** Callers that are distinguished in one second; more at once is an attack from many addresses, and is refused. */
const MAX_CALLERS = 100_000;

/**
 * Takes so much of a caller's limit in the current second. A weight above the limit takes all of it; without any weight
 * the answer only says whether there is room for one more.
 */
export type TakeWindow = (caller: string, limit: number, weight?: number) => Allowance;

/**
 * Counts requests in fixed windows: the seconds of UTC, one count for each caller. Refused requests are not counted, so
 * a caller that keeps knocking is let in again with the next second.
 */
export function createFixedWindows(clock: Clock, maxCallers = MAX_CALLERS): TakeWindow {
  let second = Number.NaN;
  const counts = new Map<string, number>();
  return (caller, limit, weight = 1) => {
    const now = Math.floor(clock.nowMs() / 1000);
    if (now !== second) {
      second = now;
      counts.clear();
    }
    const used = counts.get(caller) ?? 0;
    const isCrowded = counts.size >= maxCallers && !counts.has(caller);
    const wanted = Math.min(weight, limit);
    if (used + Math.max(wanted, 1) > limit || isCrowded) return { allowed: false, limit, remaining: 0 };
    if (wanted > 0) counts.set(caller, used + wanted);
    return { allowed: true, limit, remaining: limit - used - wanted };
  };
}

/** Names of the headers that every answer of the interface carries. */
export const LIMIT_HEADERS = [
  "X-RateLimit-Limit-Second",
  "X-RateLimit-Remaining-Second",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
] as const;

/**
 * The five headers of the interface. Reset is in whole seconds to the end of the window, at least 1, so with windows of
 * one second it always is 1.
 */
export function limitHeaders({
  limit,
  remaining,
}: Allowance): Readonly<Record<(typeof LIMIT_HEADERS)[number], string>> {
  return {
    "X-RateLimit-Limit-Second": String(limit),
    "X-RateLimit-Remaining-Second": String(remaining),
    "RateLimit-Limit": String(limit),
    "RateLimit-Remaining": String(remaining),
    "RateLimit-Reset": "1",
  };
}
