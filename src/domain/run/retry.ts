import { textHash } from "../schedule/text-hash.ts";
import { MINUTE_MS } from "../time/durations.ts";
import type { Draft } from "./draft.ts";
import type { Evidence } from "./evidence.ts";
import type { UnsignedReason } from "./reasons.ts";
import { type Run, type Swap, windowEndOf } from "./run.ts";

/** A question that came to nothing and may be asked again, because nothing was signed by it. */
export interface Unanswered {
  /** a swap; undefined: the run before it has swaps */
  readonly about: string | undefined;
  /** what the run or swap ends with when the window closes: the true cause, never that of another question */
  readonly reason: string;
  readonly detail: string;
}

/** Between which waits a question is asked again, and until when. Milliseconds. */
export interface RetryLimits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** undefined: there is no end, because what was signed is followed until the chain answers */
  readonly untilMs: number | undefined;
}

/** Another swap of the token is a matter of seconds, so its end is not waited for as long as that of a fault. */
const BUSY: UnsignedReason = "wallet_busy";
const BUSY_WAITS = 4;

/** A block is final within some twenty minutes; what is known only later, as after an outage, was decided at another time. */
export const LATEST_MS = 60 * MINUTE_MS;

/** Within which limits a refused or failed question of a run is asked again. */
export function retryLimits(evidence: Evidence, reason: string, untilMs: number): RetryLimits {
  const { retryMs, longestRetryMs } = evidence.pace;
  return { firstMs: retryMs, longestMs: reason === BUSY ? BUSY_WAITS * retryMs : longestRetryMs, untilMs };
}

/**
 * Counts the retry, writes its reason down, and says how long to wait: twice as long each time up to the longest, less a
 * part of at most half that differs from run to run, so that all who wait for one fault do not ask in the same moment.
 * @returns undefined when the window closes before anything could be asked again: nothing was written then
 */
export function waitAgain(
  draft: Draft,
  evidence: Evidence,
  asked: Unanswered,
  limits: RetryLimits,
): number | undefined {
  const leftMs = limits.untilMs === undefined ? Number.POSITIVE_INFINITY : limits.untilMs - evidence.nowMs;
  if (leftMs <= limits.firstMs) return undefined;
  const run = draft.run();
  // The last question comes early enough for an answer inside the window.
  const latestMs = Math.max(leftMs - limits.firstMs, limits.firstMs / 2);
  const waitMs = Math.min(retryWaitMs(run, limits), latestMs);
  draft.amendRun({ retries: run.retries + 1 });
  draft.record({ kind: "retry", ...asked, nextMs: evidence.nowMs + waitMs });
  return waitMs;
}

/**
 * Why a run or swap of which nothing was signed begins to trade no more: long after its window, as after a stop or an
 * outage, its decision is of another time. Answers and approvals that were under way when the window ended have as long
 * as an order lives at most. Rows of before there was a window for each later swap of a run are never too late.
 */
export function tooLate(run: Run, swap: Swap | undefined, { nowMs, pace }: Evidence): string | undefined {
  if (swap !== undefined && swap.position > 0 && swap.windowEndsMs === undefined) return undefined;
  const endMs = swap === undefined ? run.windowEndsMs : windowEndOf(run, swap);
  if (nowMs <= endMs + pace.maxLifetimeSeconds * 1_000) return undefined;
  return `its window ended ${Math.round((nowMs - endMs) / MINUTE_MS)} minutes before it went on`;
}

/** What was asked is answered: the next trouble begins with the shortest wait. */
export function answered(draft: Draft): void {
  if (draft.run().retries > 0) draft.amendRun({ retries: 0 });
}

/** Derived from run and count alone, so that it can be repeated. */
function retryWaitMs({ id, retries }: Pick<Run, "id" | "retries">, limits: RetryLimits): number {
  const nominalMs = Math.min(limits.longestMs, limits.firstMs * 2 ** Math.min(retries, 30));
  const halfMs = Math.floor(nominalMs / 2);
  return nominalMs - (textHash(`${id} ${retries}`) % (halfMs + 1));
}
