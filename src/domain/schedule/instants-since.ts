import { instantsBetween, nextInstant } from "./next-instants.ts";
import type { Schedule, ZoneOffsets } from "./schedule.ts";

/** Instants of a wall-clock schedule are counted one by one, up to here. */
const COUNT_LIMIT = 100_000;

/**
 * How many instants a schedule has after `afterMs`, up to and including `untilMs`. Elapsed time is computed; a wall
 * clock is followed instant by instant, at most 100,000 of them (two months of every minute).
 */
export function instantsSince(
  schedule: Schedule,
  range: { readonly afterMs: number; readonly untilMs: number },
  zones: ZoneOffsets,
): number {
  if (schedule.kind !== "every") return instantsBetween(schedule, range, zones, COUNT_LIMIT).length;
  const firstMs = nextInstant(schedule, range.afterMs, zones);
  if (firstMs === undefined || firstMs > range.untilMs) return 0;
  return Math.floor((range.untilMs - firstMs) / (schedule.seconds * 1_000)) + 1;
}
