import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import { countEnd, type SameEnds, type SlotEnd } from "../domain/run/same-ends.ts";
import { type RaisedAlert, raiseAlerts } from "./alerts.ts";
import type { EngineContext } from "./engine-context.ts";

/**
 * Troubles that keep every strategy from trading: who was warned of one of them is not warned again for each strategy.
 * Endpoints that disagree do not: they may do so about a single swap, and for weeks.
 */
const EVERYBODYS = [SUBJECT.node(), SUBJECT.quotes(), SUBJECT.clock(), SUBJECT.endpoints()];

/**
 * Counts how a strategy's slots ended, in the commit that ends them, and warns of too many in a row that ended alike.
 * Who was warned of the strategy by another alert knows already, unless that was of a pair, of funds or prices, and before
 * these slots.
 * @returns alerts that are still to be told
 */
export function noteEnd(context: EngineContext, strategyId: string, end: SlotEnd): readonly RaisedAlert[] {
  const { deps, settings } = context;
  const before = deps.store.sameEnds(strategyId);
  const after = countEnd(before, end);
  if (before !== undefined || after !== undefined) deps.store.saveSameEnds(strategyId, after);
  if (before !== undefined && before.firstSlotMs !== after?.firstSlotMs) {
    deps.store.endAlerts(SUBJECT.slots(strategyId), deps.clock.nowMs());
  }
  if (after === undefined || after.count < settings.told.sameEnds) return [];
  if (deps.store.isWarnedOf(strategyId, { subjects: EVERYBODYS, hindrancesSinceMs: after.firstSlotMs })) return [];
  return raiseAlerts(deps, [sameEndsAlert(strategyId, after)], { strategy: strategyId });
}

function sameEndsAlert(strategyId: string, { reason, count, firstSlotMs }: SameEnds): Alert {
  const since = new Date(firstSlotMs).toISOString();
  const text = `${strategyId} does not trade: ${count} slots in a row, from that of ${since} on, ended with ${reason}; look why with: swapd why ${strategyId}`;
  return { severity: "warning", code: "SLOTS_END_ALIKE", subject: SUBJECT.slots(strategyId), text };
}
