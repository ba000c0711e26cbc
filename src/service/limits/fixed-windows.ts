import type { Clock } from "../../ports/clock.ts";

/** What a caller may still do in the current second. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** after this request */
  readonly remaining: number;
}

/**
 * Counts requests in fixed windows: the seconds of UTC, one count for each caller. Refused requests are not counted, so
 * a caller that keeps knocking is let in again with the next second.
 */
export function createFixedWindows(clock: Clock): (caller: string, limit: number) => Allowance {
  let second = Number.NaN;
  const counts = new Map<string, number>();
  return (caller, limit) => {
    const now = Math.floor(clock.nowMs() / 1000);
    if (now !== second) {
      second = now;
      counts.clear();
    }
    const used = counts.get(caller) ?? 0;
    if (used >= limit) return { allowed: false, limit, remaining: 0 };
    counts.set(caller, used + 1);
    return { allowed: true, limit, remaining: limit - used - 1 };
  };
}

/**
 * The five headers of the interface. Reset is in whole seconds to the end of the window, at least 1, so with windows of
 * one second it always is 1.
 */
export function limitHeaders({ limit, remaining }: Allowance): Readonly<Record<string, string>> {
  return {
    "X-RateLimit-Limit-Second": String(limit),
    "X-RateLimit-Remaining-Second": String(remaining),
    "RateLimit-Limit": String(limit),
    "RateLimit-Remaining": String(remaining),
    "RateLimit-Reset": "1",
  };
}
