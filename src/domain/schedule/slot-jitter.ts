import type { CatchUp } from "./catch-up.ts";
import { nextInstant } from "./next-instants.ts";
import { closingAfter } from "./opening-hours.ts";
import type { Schedule, ZoneOffsets } from "./schedule.ts";
import { textHash } from "./text-hash.ts";

/** A strategy as far as its slots are concerned. */
export interface SlotOwner {
  readonly id: string;
  readonly schedule: Schedule;
  readonly catchUp: CatchUp;
  /** its slots before this trade nothing, Unix milliseconds; absent: all of them may */
  readonly startMs?: number | undefined;
}

/**
 * When the run of a slot starts: at the slot, or up to the schedule's jitter later. The delay is derived from strategy
 * and slot, so no restart rolls it anew; it ends before the next slot, and before the schedule closes.
 */
export function startOfSlot(strategy: SlotOwner, slotMs: number, zones: ZoneOffsets): number {
  const { schedule } = strategy;
  if (schedule.jitterSeconds === undefined) return slotMs;
  const nextMs = nextInstant(schedule, slotMs, zones) ?? Number.POSITIVE_INFINITY;
  const untilMs = Math.min(slotMs + schedule.jitterSeconds * 1_000, nextMs - 1_000);
  const closesMs = closingAfter(schedule, { openMs: slotMs, untilMs: untilMs + 1_000 }, zones);
  const roomSeconds = Math.floor((closesMs - slotMs) / 1_000);
  return slotMs + (textHash(`${strategy.id} ${slotMs}`) % Math.max(roomSeconds, 1)) * 1_000;
}
