import { type Alert, SUBJECT } from "./alert.ts";
import type { StepResult } from "./draft.ts";
import { type Run, swapOf } from "./run.ts";

/** What a step says to people: alerts to raise, and subjects of which nothing is true any more. */
export interface AlertChanges {
  readonly over: readonly string[];
  readonly raised: readonly Alert[];
}

/**
 * Reads the alerts out of a step: those that it recorded, and one for a run that it parked. A swap's alert is over when
 * the swap is no longer unknown, a run's when it is no longer parked, a pair's when a swap of it passes all checks.
 */
export function alertChanges(result: Pick<StepResult, "run" | "transitions" | "records">): AlertChanges {
  const { run, transitions, records } = result;
  const over: string[] = [];
  const raised: Alert[] = [];
  for (const { subject, subjectId, from, to, reason } of transitions) {
    if (subject === "run") {
      if (from === "parked") over.push(SUBJECT.run(subjectId));
      if (to === "parked") raised.push(parkedAlert(run));
      continue;
    }
    if (from === "unknown") over.push(SUBJECT.swap(subjectId));
    if (to === "cleared" || reason === "dry_run") over.push(SUBJECT.pair(run.strategyId, swapOf(run, subjectId)));
  }
  for (const record of records) {
    if (record.kind !== "alert") continue;
    const { kind, ...alert } = record;
    raised.push(alert);
  }
  return { over, raised };
}

function parkedAlert({ id, strategyId, reason, detail }: Run): Alert {
  const why = [reason ?? "no reason", ...(detail === undefined ? [] : [detail])].join(": ");
  const text = `run ${id} of ${strategyId} is parked (${why}); look at it with: swapd show ${id}`;
  return { severity: "warning", code: "RUN_PARKED", subject: SUBJECT.run(id), text };
}
