import type { Clock } from "../../../ports/clock.ts";

/** Bounds how often something is tried, by whom and in all. */
export interface Attempts {
  /** Counts one. @returns whether it is one too many */
  isTooMany(by: string): boolean;
}

const WITHIN_MS = 60_000;
const MOST_OF_ONE = 10;
const MOST_OF_ALL = 100;

/** So many a minute of one address, and of all together: what is remembered has that bound, too. */
export function createAttempts({ monotonicMs }: Pick<Clock, "monotonicMs">): Attempts {
  let made: { readonly by: string; readonly atMs: number }[] = [];
  return {
    isTooMany: (by) => {
      const nowMs = monotonicMs();
      made = made.filter(({ atMs }) => nowMs - atMs < WITHIN_MS);
      if (made.length >= MOST_OF_ALL || made.filter((one) => one.by === by).length >= MOST_OF_ONE) return true;
      made.push({ by, atMs: nowMs });
      return false;
    },
  };
}
