import { SUBJECT } from "../domain/run/alert.ts";
import { countEnd, hasOneReason, type SameEnds, type SlotEnd } from "../domain/run/same-ends.ts";
import type { TrueWarning } from "../ports/alert-store.ts";
import type { Change } from "../ports/changes.ts";
import { raiseChange } from "./alerts.ts";
import type { EngineContext } from "./engine-context.ts";
import { isWarnedOf, warningsAfter } from "./true-warnings.ts";

/**
 * Troubles that keep every strategy from trading: who was warned of one of them is not warned again for each strategy.
 * Endpoints that disagree do not: they may do so about a single swap, and for weeks.
 */
export const EVERYBODYS: readonly string[] = [SUBJECT.node(), SUBJECT.quotes(), SUBJECT.clock(), SUBJECT.endpoints()];

/**
 * Counts how slots of a strategy ended, and warns of too many in a row that came to nothing. Who was warned of the strategy by
 * another alert knows already, unless that was of a pair, of funds or prices, and before these slots; or before the last
 * of them, where they came to nothing for several reasons: it says why of one alone. Who looks is told all reasons.
 * @param known how they ended before, and what is true then; asked only where it matters
 */
export function countSlotEnd(
  context: EngineContext,
  strategyId: string,
  { end, before, warnings }: { end: SlotEnd; before: SameEnds | undefined; warnings: () => readonly TrueWarning[] },
): readonly Change[] {
  const after = countEnd(before, end);
  if (before === undefined && after === undefined) return [];
  const isAnother = before !== undefined && before.firstSlotMs !== after?.firstSlotMs;
  const changes: readonly Change[] = [
    { kind: "same-ends", strategyId, ends: after },
    ...(isAnother ? [{ kind: "alerts-over", subject: SUBJECT.slots(strategyId) } as const] : []),
    ...(after !== undefined && before !== undefined && before.reason !== after.reason
      ? [{ kind: "alert-reworded", alert: sameEndsAlert(strategyId, after) } as const]
      : []),
  ];
  if (after === undefined || after.count < context.settings.notifications.sameEnds) return changes;
  const known = {
    strategyId,
    subjects: EVERYBODYS,
    hindrancesSinceMs: hasOneReason(after) ? after.firstSlotMs : end.slotMs,
  };
  if (isWarnedOf(warningsAfter(warnings(), changes, context.deps.clock.nowMs()), known)) return changes;
  return [...changes, raiseChange(context.deps, sameEndsAlert(strategyId, after), { strategy: strategyId })];
}

function sameEndsAlert(strategyId: string, { reason, count, firstSlotMs }: SameEnds) {
  const since = new Date(firstSlotMs).toISOString();
  const text = `${strategyId} does not trade: ${count} slots in a row, from that of ${since} on, ended with ${reason}; see why with: swapd why ${strategyId}`;
  return { severity: "warning", code: "SLOTS_END_ALIKE", subject: SUBJECT.slots(strategyId), text } as const;
}
