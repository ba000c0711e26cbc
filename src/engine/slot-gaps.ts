import { countEnd } from "../domain/run/same-ends.ts";
import { liesBetween } from "../domain/schedule/ended-slots.ts";
import { type SlotGap, withoutEnded } from "../domain/schedule/slots.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { Change } from "../ports/changes.ts";
import type { SlotRows } from "../ports/slot-questions.ts";
import type { EngineContext } from "./engine-context.ts";
import { countSlotEnd } from "./same-ends.ts";
import { warningsAfter } from "./true-warnings.ts";

/** What slots came to: a gap, or the run that stands for them. */
export type SlotOutcome =
  | { readonly kind: "gap"; readonly strategy: string; readonly gap: SlotGap }
  | { readonly kind: "run"; readonly strategy: string; readonly slotMs: number; readonly slots: number };

/** Gets the outcomes as they are written. */
export type OutcomeListener = (outcome: SlotOutcome) => void;

/** Ignores them. */
export const nobody: OutcomeListener = () => undefined;

/** What slots came to, and the changes that follow from it. */
export interface DecidedSlots {
  readonly changes: readonly Change[];
  readonly outcomes: readonly SlotOutcome[];
}

/** A gap that joins no other. */
export const NO_GAP = -1;

/** The gaps of a strategy's slots, with what follows from how they ended. What has its end already is in none of them. */
export function gapsOf(
  context: EngineContext,
  { id: strategy, schedule }: Pick<StrategySpec, "id" | "schedule">,
  { gaps: planned, handledMs, rows }: { gaps: readonly SlotGap[]; handledMs: number; rows: SlotRows },
): DecidedSlots {
  const changes: Change[] = [];
  const ended = rows.endedAhead.get(strategy) ?? [];
  const { zones } = context.deps;
  const gaps = planned.flatMap((gap) =>
    withoutEnded(schedule, gap, ended, zones).map((part) => ({ ...part, reason: gap.reason })),
  );
  let ends = rows.sameEnds.get(strategy);
  let joinsAtMs = handledMs;
  for (const { firstMs, lastMs, count, reason } of gaps) {
    const gap = { strategy, firstSlotMs: firstMs, lastSlotMs: lastMs, count, reason };
    const end = { slotMs: firstMs, count, reason };
    const warnings = () => warningsAfter(rows.warnings, changes, context.deps.clock.nowMs());
    const isApart = liesBetween(ended, { afterMs: joinsAtMs, beforeMs: firstMs });
    changes.push({ kind: "gap", gap, joinsAtMs: isApart ? NO_GAP : joinsAtMs });
    changes.push(...countSlotEnd(context, strategy, { end, before: ends, warnings }));
    ends = countEnd(ends, end);
    joinsAtMs = lastMs;
  }
  return { changes, outcomes: gaps.map((gap) => ({ kind: "gap", strategy, gap })) };
}
