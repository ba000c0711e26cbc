import type { Clock } from "../../ports/clock.ts";
import type { TimeLimit } from "../time-limit.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** How long searches may delay everything else, in one turn of the event loop. */
const SLICE_MS = 3;

/** A search is long after so many turns of its own: at the first search over new pools, many take one or two. */
const LONG_SLICES = 5;

/**
 * Long searches at a time: each of them makes every other one wait a turn more. Where there are as many, the caller who
 * has most of them gives one up for a caller who has fewer.
 */
const MAX_LONG = 16;

/** A search that was given up, for one of the reasons that callers get. */
export class SearchStoppedError extends Error {
  readonly error: "BUSY" | "QUOTE_TIMEOUT";

  constructor(error: SearchStoppedError["error"], message: string) {
    super(message);
    this.name = "SearchStoppedError";
    this.error = error;
  }
}

/** Shares the event loop between searches, and between them and all other work. */
export interface TimeSlices {
  /** the budget of the work in the current slice */
  readonly budget: SearchBudget;
  /**
   * Does work: at once as far as this slice has time for it, and the rest a part in each later slice,
   * where long works take turns.
   * @returns undefined when the limit is over first; the same work may then be passed in again
   * @throws SearchStoppedError when it proves long and too many others are
   */
  take<T>(work: Steps<T>, limit: TimeLimit): Promise<{ readonly value: T } | undefined>;
}

interface Job {
  readonly work: Steps<unknown>;
  readonly limit: TimeLimit;
  usedMs: number;
  /** Does a part. @returns whether the job is over */
  advance(): boolean;
  /** Ends the job undone: for a reason, or because its limit is over. */
  end(reason?: Error): void;
}

export interface TimeSliceOptions {
  readonly sliceMs?: number;
  readonly maxLong?: number;
}

export function createTimeSlices(
  clock: Clock,
  { sliceMs = SLICE_MS, maxLong = MAX_LONG }: TimeSliceOptions = {},
): TimeSlices {
  const longMs = sliceMs * LONG_SLICES;
  let waiting: Job[] = [];
  let sliceEndsMs = Number.NEGATIVE_INFINITY;
  let isBooked = false;
  /** Works that proved long and were taken: passed in again, they keep their places. */
  const taken = new WeakSet<Steps<unknown>>();
  const budget: SearchBudget = { isOver: () => clock.monotonicMs() >= sliceEndsMs };
  const isLong = ({ usedMs }: Job) => usedMs >= longMs;

  function beginSlice(): void {
    if (isBooked) return;
    isBooked = true;
    sliceEndsMs = clock.monotonicMs() + sliceMs;
    setImmediate(nextSlice);
  }

  function nextSlice(): void {
    isBooked = false;
    waiting = waiting.filter((job) => !endIfLate(job));
    if (waiting.length === 0) return;
    beginSlice();
    do advance(waiting.shift());
    while (waiting.length > 0 && !budget.isOver());
  }

  function advance(job: Job | undefined): void {
    const beganMs = clock.monotonicMs();
    if (job === undefined || job.advance()) return;
    const wasLong = isLong(job);
    job.usedMs += clock.monotonicMs() - beganMs;
    if (isLong(job) && !wasLong && waiting.filter(isLong).length >= maxLong) {
      const displaced = toGiveUp(job, waiting.filter(isLong));
      displaced.end(new SearchStoppedError("BUSY", `${maxLong} long searches for routes are in work`));
      if (displaced === job) return;
      waiting = waiting.filter((other) => other !== displaced);
    }
    if (isLong(job)) taken.add(job.work);
    waiting.push(job);
  }

  return {
    budget,
    take(work, limit) {
      return new Promise((resolve, reject) => {
        const job = createJob(work, limit, { resolve, reject });
        if (taken.has(work)) job.usedMs = longMs;
        if (endIfLate(job)) return;
        beginSlice();
        // None overtakes those that wait already.
        if (waiting.length > 0 || budget.isOver()) waiting.push(job);
        else advance(job);
      });
    },
  };
}

/** The newest search of the caller who has more than the one whose search proved long; else that one. */
function toGiveUp(job: Job, long: readonly Job[]): Job {
  const countOf = (caller: string | undefined) => long.filter(({ limit }) => limit.caller === caller).length;
  const most = [...long].reverse().reduce((one, other) => {
    return countOf(other.limit.caller) > countOf(one.limit.caller) ? other : one;
  }, job);
  return countOf(most.limit.caller) > countOf(job.limit.caller) + 1 ? most : job;
}

function endIfLate(job: Job): boolean {
  const isLate = job.limit.isOver();
  if (isLate) job.end();
  return isLate;
}

function createJob<T>(
  work: Steps<T>,
  limit: TimeLimit,
  outcome: { resolve(value: { readonly value: T } | undefined): void; reject(reason: unknown): void },
): Job {
  return {
    work,
    limit,
    usedMs: 0,
    advance() {
      try {
        const step = work.next();
        if (step.done === true) outcome.resolve({ value: step.value });
        return step.done === true;
      } catch (error) {
        outcome.reject(error);
        return true;
      }
    },
    end(reason) {
      if (reason === undefined) outcome.resolve(undefined);
      else outcome.reject(reason);
    },
  };
}
