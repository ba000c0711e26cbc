import { type EndedSlots, nextWithoutEnd } from "../schedule/ended-slots.ts";
import { planSlots } from "../schedule/slots.ts";
import type { ForecastStrategy, ForecastWorld } from "./forecast.ts";

/** A run that nothing holds back: it begins as soon as a daemon runs. */
export interface RunAtOnce {
  readonly slotMs: number;
  /** for how many slots it stands */
  readonly slots: number;
}

/**
 * What a strategy does as soon as a daemon runs: the run that has not begun, the first one of `start: now` among them, and
 * slots that were missed and are caught up.
 * @returns and the slot up to which nothing else is to come
 */
export function runsAtOnce(
  { spec, due, ended = [], ...strategy }: ForecastStrategy,
  { nowMs, zones }: Pick<ForecastWorld, "nowMs" | "zones">,
): { readonly runs: readonly RunAtOnce[]; readonly handledMs: number } {
  const runs: RunAtOnce[] = due === undefined ? [] : [due];
  let { handledMs } = strategy;
  for (;;) {
    const moment = { handledMs, nowMs, barred: undefined, barredUntilMs: 0, haltedUntilMs: 0, isBusy: false, ended };
    const plan = planSlots(spec, moment, zones);
    handledMs = plan.handledMs;
    if (plan.run === undefined) return { runs, handledMs };
    runs.push(plan.run);
  }
}

/** What a strategy does next, and when; a slot that was missed is an earlier one. */
export interface NextRun extends RunAtOnce {
  readonly atMs: number;
  readonly isAtOnce: boolean;
}

/** The first of the runs that nothing holds back, which it takes away; after them the next slot of the schedule. */
export function nextRun(
  course: Pick<ForecastStrategy, "spec" | "handledMs"> & {
    readonly ended: readonly EndedSlots[];
    readonly atOnce: RunAtOnce[];
  },
  { nowMs, zones }: Pick<ForecastWorld, "nowMs" | "zones">,
): NextRun | undefined {
  const run = course.atOnce.shift();
  if (run !== undefined) return { ...run, atMs: nowMs, isAtOnce: true };
  const { spec, ended, handledMs } = course;
  const slotMs = nextWithoutEnd(spec.schedule, { afterMs: handledMs, ended }, zones);
  return slotMs === undefined ? undefined : { slotMs, slots: 1, atMs: Math.max(slotMs, nowMs), isAtOnce: false };
}
