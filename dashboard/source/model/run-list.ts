import type { Run } from "../answers.ts";

/** Runs as they are listed, newest first and without a gap between them. */
export interface RunList {
  readonly items: readonly Run[];
  /** undefined: nothing was read yet; null: all of it is here */
  readonly next: string | null | undefined;
}

/** So many runs come at once, and so many at most. */
export const PAGE = 200;
const MOST_AT_ONCE = 500;
/** A page that is open for days takes no more room than for so many. */
const MOST_KEPT = 10_000;

const ENDS: ReadonlySet<string> = new Set(["filled", "partial", "skipped", "failed"]);

/** How many of the newest runs are read again: what is still open may have ended, however many have come since. */
export function readAgain(items: readonly Run[]): number {
  const open = items.findLastIndex(({ state }) => !ENDS.has(state));
  return Math.min(Math.max(open + 1, PAGE), MOST_AT_ONCE);
}

/**
 * The list with its newest runs as they are now. Where more came than were read, those before them are not here: the list
 * ends with what was read, and goes on from there.
 */
export function renewed(old: RunList, newest: RunList): RunList {
  const last = newest.items.at(-1);
  const known = newest.next === null ? -1 : old.items.findIndex(({ id }) => id === last?.id);
  if (known < 0 || newest.items.length + old.items.length - known > MOST_KEPT)
    return { items: newest.items, next: newest.next };
  return { items: [...newest.items, ...old.items.slice(known + 1)], next: old.next };
}
