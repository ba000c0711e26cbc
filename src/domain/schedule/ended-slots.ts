import { nextInstant } from "./next-instants.ts";
import type { Schedule, ZoneOffsets } from "./schedule.ts";

/**
 * From one instant up to another, both in Unix milliseconds, slots have their end or run already, although their strategy
 * has yet to come to them: an operator used them up, and then the schedule was edited.
 */
export interface EndedSlots {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Whether a slot has its end or run already. */
export function hasEnd(ended: readonly EndedSlots[], slotMs: number): boolean {
  return ended.some(({ firstMs, lastMs }) => firstMs <= slotMs && slotMs <= lastMs);
}

/** Whether any slot between two others has. */
export function liesBetween(ended: readonly EndedSlots[], range: { afterMs: number; beforeMs: number }): boolean {
  return ended.some(({ firstMs, lastMs }) => lastMs > range.afterMs && firstMs < range.beforeMs);
}

/** The first slot after an instant that has neither; undefined when the schedule has no further one. */
export function nextWithoutEnd(
  schedule: Schedule,
  { afterMs, ended }: { readonly afterMs: number; readonly ended: readonly EndedSlots[] },
  zones: ZoneOffsets,
): number | undefined {
  let slotMs = nextInstant(schedule, afterMs, zones);
  while (slotMs !== undefined && hasEnd(ended, slotMs)) slotMs = nextInstant(schedule, slotMs, zones);
  return slotMs;
}
