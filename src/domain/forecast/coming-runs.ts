import { type EndedSlots, nextWithoutEnd } from "../schedule/ended-slots.ts";
import type { ZoneOffsets } from "../schedule/schedule.ts";
import { planSlots } from "../schedule/slots.ts";
import type { StrategySpec } from "../strategy/spec.ts";

/** A run that is due: it begins as soon as a daemon runs, or the run that is open ends. */
export interface RunAtOnce {
  readonly slotMs: number;
  /** for how many slots it stands */
  readonly slots: number;
}

/** How far a strategy has come with its slots. */
interface Progress {
  readonly spec: StrategySpec;
  /** the last slot that has its run or end */
  readonly handledMs: number;
}

interface Moment {
  readonly nowMs: number;
  readonly zones: ZoneOffsets;
}

/**
 * What a strategy does as soon as a daemon runs: the run that has not begun, the first one of `start: now` among them, and
 * slots that were missed and are caught up.
 * @returns and the slot up to which nothing else is to come
 */
export function runsAtOnce(
  {
    spec,
    due,
    ended = [],
    ...strategy
  }: Progress & { readonly due?: RunAtOnce | undefined; readonly ended?: readonly EndedSlots[] | undefined },
  { nowMs, zones }: Moment,
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
  /** whether it is due and waits until the run that is open ends: nobody knows when, so it counts as of now */
  readonly isAfterOpenRun: boolean;
}

/** The first of the runs that are due, which it takes away; after them the next slot of the schedule. */
export function nextRun(
  course: Progress & { readonly ended: readonly EndedSlots[]; readonly atOnce: RunAtOnce[]; readonly isBusy: boolean },
  { nowMs, zones }: Moment,
): NextRun | undefined {
  const run = course.atOnce.shift();
  if (run !== undefined) return { ...run, atMs: nowMs, isAtOnce: !course.isBusy, isAfterOpenRun: course.isBusy };
  const { spec, ended, handledMs } = course;
  const slotMs = nextWithoutEnd(spec.schedule, { afterMs: handledMs, ended }, zones);
  if (slotMs === undefined) return undefined;
  return { slotMs, slots: 1, atMs: Math.max(slotMs, nowMs), isAtOnce: false, isAfterOpenRun: false };
}
