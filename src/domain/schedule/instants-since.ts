import { nextInstant } from "./next-instants.ts";
import type { Schedule, ZoneOffsets } from "./schedule.ts";
import { countInstants, newestInstant } from "./slot-range.ts";

/** How many instants a schedule has after `afterMs`, up to and including `untilMs`; a million at most. */
export function instantsSince(
  schedule: Schedule,
  range: { readonly afterMs: number; readonly untilMs: number },
  zones: ZoneOffsets,
): number {
  const firstMs = nextInstant(schedule, range.afterMs, zones);
  if (firstMs === undefined || firstMs > range.untilMs) return 0;
  const lastMs = newestInstant(schedule, { fromMs: firstMs, untilMs: range.untilMs }, zones);
  return countInstants(schedule, { firstMs, lastMs }, zones);
}
