import type { SkipReason } from "../strategy/decision.ts";
import type { SlotReason, UnsignedReason } from "./reasons.ts";
import type { Run } from "./run.ts";

/** Slots of a strategy in a row that came to nothing, each for a reason that is a failure. */
export interface SameEnds {
  /** the reasons, at most three, joined by {@link OR}: releases of before take that for one, and begin anew after it */
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

const OR = " or ";
const MOST_NAMED = 3;

/**
 * Counts an end of slots. One for another reason goes on with the count: where a flaky node and a flaky service take turns,
 * nothing is traded all the same. A slot that overlaps with a run ends like the run does, and names no reason of its own.
 * @returns undefined when nothing is in a row any more
 */
export function countEnd(before: SameEnds | undefined, { slotMs, count, reason }: SlotEnd): SameEnds | undefined {
  if (reason === undefined || AS_REQUESTED.has(reason)) return undefined;
  if (before === undefined) return { reason, count, firstSlotMs: slotMs };
  return { reason: named(before.reason, reason), count: before.count + count, firstSlotMs: before.firstSlotMs };
}

/** Whether all of them came to nothing for the same reason. */
export function hasOneReason({ reason }: Pick<SameEnds, "reason">): boolean {
  return !reason.includes(OR);
}

/** The reasons in the order in which they first came; of more than {@link MOST_NAMED} the oldest go. */
function named(before: string, reason: string): string {
  const known = before.split(OR).filter((one) => one !== OVERLAP);
  const all = reason === OVERLAP || known.includes(reason) ? known : [...known, reason];
  return all.length === 0 ? OVERLAP : all.slice(-MOST_NAMED).join(OR);
}

/** How a run that came to its end ends its slot. */
export function endOfRun({ slotMs, state, reason }: Pick<Run, "slotMs" | "state" | "reason">): SlotEnd {
  return { slotMs, count: 1, reason: state === "filled" || state === "partial" ? undefined : (reason ?? state) };
}
