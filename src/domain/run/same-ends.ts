import type { SkipReason } from "../strategy/decision.ts";
import type { SlotReason, UnsignedReason } from "./reasons.ts";
import type { Run } from "./run.ts";

/** Slots of a strategy in a row that came to nothing for the same reason. */
export interface SameEnds {
  readonly reason: string;
  readonly count: number;
  readonly firstSlotMs: number;
}

/** How slots ended: with a trade, or for a reason. */
export interface SlotEnd {
  readonly slotMs: number;
  readonly count: number;
  /** undefined: it traded */
  readonly reason: string | undefined;
}

const OVERLAP: SlotReason = "overlap";

/**
 * Ends that were asked for: the strategy's own rule, a person's request, a dry run. A downtime is reported
 * by the message of a start.
 */
const AS_REQUESTED: ReadonlySet<string> = new Set<SkipReason | SlotReason | UnsignedReason>([
  ...(["within_bands", "below_minimum_trade", "not_triggered", "not_armed", "already_fired", "cooling_down"] as const),
  ...(["not_started", "ended", "budget_spent", "price_gate", "price_limit", "price_abort", "confirming"] as const),
  ...(["turnover_spent", "on_path", "not_activated", "below_mark"] as const),
  ...(["missed", "accumulated", "outside_window", "skipped_by_operator", "paused", "exits-only", "halted"] as const),
  ...(["dry_run", "cancelled_by_operator"] as const),
]);

/**
 * Counts an end of slots. A slot that overlaps with a run ends like the run does: it goes on with whatever is counted.
 * @returns undefined when nothing is in a row any more
 */
export function countEnd(before: SameEnds | undefined, { slotMs, count, reason }: SlotEnd): SameEnds | undefined {
  if (reason === undefined || AS_REQUESTED.has(reason)) return undefined;
  if (before === undefined) return { reason, count, firstSlotMs: slotMs };
  if (reason !== OVERLAP && before.reason !== OVERLAP && before.reason !== reason) {
    return { reason, count, firstSlotMs: slotMs };
  }
  const kept = reason === OVERLAP ? before.reason : reason;
  return { reason: kept, count: before.count + count, firstSlotMs: before.firstSlotMs };
}

/** How a run that came to its end ends its slot. */
export function endOfRun({ slotMs, state, reason }: Pick<Run, "slotMs" | "state" | "reason">): SlotEnd {
  return { slotMs, count: 1, reason: state === "filled" || state === "partial" ? undefined : (reason ?? state) };
}
