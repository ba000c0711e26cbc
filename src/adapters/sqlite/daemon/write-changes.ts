import { SUBJECT } from "../../../domain/run/alert.ts";
import type { AlertRow } from "../../../ports/alert-store.ts";
import type { Change } from "../../../ports/changes.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import { createLaneWriters } from "../lane-writers.ts";
import type { RowStore } from "./row-store.ts";
import { reconciliationWriters, watchWriters } from "./write-beside.ts";
import { quietly, type Writers } from "./writers.ts";

/**
 * Writes changes in their order; to be called inside a transaction.
 * @returns the alerts and messages that are new: they are still to be logged
 */
export function writeChanges(
  writers: Writers,
  { changes, atMs }: { readonly changes: readonly Change[]; readonly atMs: number },
): readonly AlertRow[] {
  const writeOne = <K extends Kinds>(kind: K, change: Extract<Change, { kind: K }>): AlertRow | undefined =>
    writers[kind](change, atMs);
  return changes.flatMap((change) => writeOne(change.kind, change) ?? []);
}

type Kinds = Change["kind"];

/** How each change is written. */
export function createWriters(rows: RowStore, lanes: () => LaneRowStore): Writers {
  return {
    ...stepWriters(rows),
    ...createLaneWriters(lanes),
    ...alertWriters(rows),
    ...slotWriters(rows),
    ...effectWriters(rows),
    ...reconciliationWriters(rows, lanes),
    ...watchWriters(rows),
  };
}

function stepWriters(rows: RowStore): Writers<"run" | "step" | "record" | "effects" | "effect-answered"> {
  return {
    run: quietly(({ run, transitions, before }, atMs) => rows.saveRun(run, transitions, atMs, before)),
    step: quietly(({ runId, step }) => rows.addStep(runId, step)),
    record: quietly(({ run, record }, atMs) => rows.writeRecord(run, record, atMs)),
    effects: quietly(({ runId, effects }, atMs) => rows.addEffects(runId, effects, atMs)),
    "effect-answered": quietly(({ effectId }) => rows.finishEffect(effectId)),
  };
}

type AlertKinds = "mode" | "alert" | "alert-reworded" | "message" | "wants-over" | Extract<Kinds, `alerts-${string}`>;

function alertWriters(rows: RowStore): Writers<AlertKinds> {
  return {
    mode: quietly(({ row }, atMs) => {
      rows.setMode(row);
      rows.endAlerts(SUBJECT.mode(row.scope), atMs);
    }),
    alert: ({ alert, replaces }, atMs) => {
      if (replaces === true) rows.replaceAlert(alert, atMs);
      return rows.raiseAlert(alert) ? alert : undefined;
    },
    "alert-reworded": quietly(({ alert }) => rows.rewordAlert(alert)),
    message: ({ message }) => (rows.addMessage(message) ? message : undefined),
    "alerts-over": quietly(({ subject }, atMs) => rows.endAlerts(subject, atMs)),
    "alerts-of-others-over": quietly(({ strategyIds }, atMs) => rows.endAlertsOfOthers(strategyIds, atMs)),
    "alerts-of-fills-over": quietly(({ strategyId }, atMs) => rows.endAlertsOfFills(strategyId, atMs)),
    "alerts-of-others-outside-over": quietly((kept, atMs) => rows.endAlertsOfOthersOutside(kept, atMs)),
    "wants-over": quietly(({ strategyId, raisedUntilMs }, atMs) =>
      rows.endAlertsOfWants(strategyId, { raisedUntilMs, atMs }),
    ),
  };
}

type SlotKinds =
  | "run-due"
  | "gap"
  | "last-slot"
  | "strategy"
  | "come-back"
  | "files"
  | "same-ends"
  | "mode-corrected"
  | "lot-order";

function slotWriters(rows: RowStore): Writers<SlotKinds> {
  return {
    "run-due": quietly(({ run }, atMs) => rows.insertRun(run, atMs)),
    gap: quietly(({ gap, joinsAtMs }, atMs) => rows.addGap(gap, joinsAtMs, atMs)),
    "last-slot": quietly(({ strategyId, lastSlotMs }) => rows.setLastSlot(strategyId, lastSlotMs)),
    strategy: quietly(({ row }, atMs) => rows.saveStrategy(row, atMs)),
    "come-back": quietly(({ strategyId, lastSlotMs }) => rows.comeBack(strategyId, lastSlotMs)),
    files: quietly(({ strategyIds }) => rows.markGone(strategyIds)),
    "same-ends": quietly(({ strategyId, ends }) => rows.saveSameEnds(strategyId, ends)),
    "lot-order": quietly(({ order }) => rows.addLotOrder(order)),
    "mode-corrected": quietly(({ row }) => rows.setMode(row)),
  };
}

type EffectKinds = "hold-answered" | "effect-begun" | "effect-postponed" | "request-made" | "request-answered";

function effectWriters(rows: RowStore): Writers<EffectKinds> {
  return {
    "hold-answered": quietly(({ runId, answer }, atMs) => {
      rows.answerHolds(runId, answer);
      rows.hastenQuotes(runId, atMs);
    }),
    "effect-begun": quietly(({ effectId }) => rows.beginEffect(effectId)),
    "effect-postponed": quietly(({ effectId, untilMs }, atMs) => rows.postponeEffect(effectId, atMs, untilMs)),
    "request-made": quietly(({ request }, madeAtMs) => rows.addRequest({ ...request, madeAtMs })),
    "request-answered": quietly(({ requestId, answer }, atMs) => rows.answerRequest(requestId, answer, atMs)),
  };
}
