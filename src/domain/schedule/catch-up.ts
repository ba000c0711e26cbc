/**
 * What becomes of slots that passed while they could not be run.
 * - `skip`: nothing, they were missed;
 * - `latest`: the newest runs;
 * - `all`: each runs, oldest first, one after another;
 * - `accumulate`: one run stands for all of them.
 */
export const CATCH_UP_POLICIES = ["skip", "latest", "all", "accumulate"] as const;

/** How missed slots are caught up, and the limits of it. Slots outside of the limits were missed. */
export interface CatchUp {
  readonly policy: (typeof CATCH_UP_POLICIES)[number];
  /** how late a slot may start; undefined is half of the time to the next slot, at most six hours */
  readonly windowSeconds: number | undefined;
  /** with `all`: the most slots that wait for their turn */
  readonly maxRuns: number;
  /** with `accumulate`: the most slots that one run stands for */
  readonly maxMultiple: number;
}

/** What a strategy does that says nothing about it. */
export const DEFAULT_CATCH_UP: CatchUp = { policy: "latest", windowSeconds: undefined, maxRuns: 3, maxMultiple: 2 };
