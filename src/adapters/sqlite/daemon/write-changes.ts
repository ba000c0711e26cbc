import { SUBJECT } from "../../../domain/run/alert.ts";
import type { AlertRow } from "../../../ports/alert-store.ts";
import type { Change } from "../../../ports/changes.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import { writeLaneChanges } from "../lane-writers.ts";
import type { RowStore } from "./row-store.ts";

/**
 * Writes changes in their order; to be called inside a transaction.
 * @returns the alerts and messages that are new: they are still to be told
 */
export function writeChanges(
  rows: RowStore,
  lanes: () => LaneRowStore,
  { changes, atMs }: { readonly changes: readonly Change[]; readonly atMs: number },
): readonly AlertRow[] {
  return changes.flatMap((change) => writeOne(rows, lanes, { change, atMs }) ?? []);
}

/** @returns what is to be told */
function writeOne(
  rows: RowStore,
  lanes: () => LaneRowStore,
  { change, atMs }: { readonly change: Change; readonly atMs: number },
): AlertRow | undefined {
  switch (change.kind) {
    case "run":
      rows.saveRun(change.run, change.transitions, atMs, change.before);
      return;
    case "step":
      rows.addStep(change.runId, change.step);
      return;
    case "record":
      rows.writeRecord(change.run, change.record, atMs);
      return;
    case "effects":
      rows.addEffects(change.runId, change.effects, atMs);
      return;
    case "effect-answered":
      rows.finishEffect(change.effectId, atMs);
      return;
    case "mode":
      rows.setMode(change.row);
      rows.endAlerts(SUBJECT.mode(change.row.scope), atMs);
      return;
    case "alert":
      return rows.raiseAlert(change.alert) ? change.alert : undefined;
    case "message":
      return rows.addMessage(change.message) ? change.message : undefined;
    case "alerts-over":
      rows.endAlerts(change.subject, atMs);
      return;
    case "wants-over":
      rows.endAlertsOfWants(change.strategyId, { raisedUntilMs: change.raisedUntilMs, atMs });
      return;
    case "same-ends":
      rows.saveSameEnds(change.strategyId, change.ends);
      return;
    default:
      writeLaneChanges(lanes(), [change], atMs);
      return;
  }
}
