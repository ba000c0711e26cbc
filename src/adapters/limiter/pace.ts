/**
 * The arithmetic of pacing, without clock or storage. Calls get slots that lie one interval apart (GCRA with a burst of
 * one), because the service counts in fixed windows of unknown phase: whatever was saved up could fall into one
 * window. Times are microseconds on a clock that all processes of the machine share.
 */

/** What is shared about one key. */
export interface Pace {
  /** the next call may go from this instant on, never more than some seconds ahead */
  readonly nextSlotUs: number;
  /** no call is made before this: the service said so */
  readonly blockedUntilUs: number;
  /** since the service stopped us: calls go one by one, far apart, until one of them has come to an end */
  readonly cautious: boolean;
  /** calls per second at `rateAtUs`; it rises from there up to the ceiling */
  readonly ratePerSecond: number;
  readonly rateAtUs: number;
  /** calls per second that the service last stated, undefined while it stated none */
  readonly limitSeen: number | undefined;
}

/** The right to one call now, or a wait before asking again. */
export type Turn =
  | { readonly kind: "go"; readonly pace: Pace }
  | { readonly kind: "wait"; readonly untilUs: number; readonly pace: Pace };

/** What an answer said about limits; undefined where it said nothing that can be read. */
export interface LimitNotice {
  readonly refused: boolean;
  readonly retryAfterMs: number | undefined;
  /** calls per second, on average over the stated window */
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  readonly resetSeconds: number | undefined;
}

/** What is known of a call whose answer was lost. */
export const NOTHING_SAID: LimitNotice = {
  refused: false,
  retryAfterMs: undefined,
  limit: undefined,
  remaining: undefined,
  resetSeconds: undefined,
};

/** What the owner allows. */
export interface PaceTerms {
  /** calls per second */
  readonly limitPerSecond: number;
  /** a service that asks for a longer wait is asked again after this */
  readonly longestRetryAfterMs: number;
}

/** Share of the limit that is used. The rest keeps calls that arrive late out of the next window's count. */
const USED_SHARE = 0.955;
/** Share of the limit, at least one call, that stays free whatever is caught up: 20 ms of jitter. */
const JITTER_SHARE = 0.02;
/** After a refusal the rate falls to this share of itself ... */
const REFUSED_SHARE = 0.7;
/** ... and every second this share of the limit comes back. */
const RECOVERY_PER_SECOND = 0.01;
/** What is left of a window is believed up to here: `RateLimit-Reset` is often no number of seconds. */
const LONGEST_RESET_US = 60_000_000;
const SECOND_US = 1_000_000;
/** While cautious, calls are so far apart. */
const CAUTIOUS_INTERVAL_US = 5_000_000;
/** While cautious, how often it is checked whether a call has ended. */
const CAUTIOUS_POLL_US = 50_000;
/** Calls are not paced slower than this: a longer window is used up, and then waited for. */
const LOWEST_PER_SECOND = 0.2;
/** A stated zero without a refusal means that others use the key too: leave them these slots. */
const SLOTS_LEFT_TO_OTHERS = 2;
/** The end of a block is spread over processes by up to so much. */
const BLOCK_SPREAD_US = SECOND_US / 4;
/** No pace that was ever written has a slot further ahead than this. */
const FURTHEST_SLOT_US = 6_000_000;

/** A pace that was never used: it starts empty, because it is not known what was called in the last second. */
export function emptyPace(nowUs: number, configuredLimit: number): Pace {
  return {
    nextSlotUs: nowUs + SECOND_US,
    blockedUntilUs: 0,
    cautious: false,
    ratePerSecond: ceilingOf(configuredLimit, undefined),
    rateAtUs: nowUs,
    limitSeen: undefined,
  };
}

/** Whether a stored pace can have been written by this clock under these terms. What cannot would hold calls back. */
export function isPlausible(pace: Pace, nowUs: number, terms: PaceTerms): boolean {
  const { nextSlotUs, blockedUntilUs, ratePerSecond, rateAtUs, limitSeen = 1 } = pace;
  const longestBlockUs = Math.max(terms.longestRetryAfterMs * 1_000, LONGEST_RESET_US) + BLOCK_SPREAD_US;
  return (
    nextSlotUs - nowUs <= FURTHEST_SLOT_US &&
    blockedUntilUs - nowUs <= longestBlockUs &&
    rateAtUs - nowUs <= SECOND_US &&
    ratePerSecond > 0 &&
    limitSeen > 0
  );
}

/** The rate now, in calls per second: never above the configured limit, whatever the service says. */
export function rateAt(pace: Pace, nowUs: number, configuredLimit: number): number {
  const seconds = Math.max(0, nowUs - pace.rateAtUs) / SECOND_US;
  const recovered = pace.ratePerSecond + seconds * RECOVERY_PER_SECOND * configuredLimit;
  return Math.min(ceilingOf(configuredLimit, pace.limitSeen), Math.max(recovered, LOWEST_PER_SECOND));
}

/**
 * How far back a missed slot is still used, in microseconds. Timers are late; what they lose is caught up as far as the
 * calls of any one second stay below limit less jitter.
 */
function catchUpUs(pace: Pace, configuredLimit: number): number {
  const limit = limitOf(configuredLimit, pace.limitSeen);
  const ceiling = ceilingOf(configuredLimit, pace.limitSeen);
  const margin = Math.max(1, Math.ceil(limit * JITTER_SHARE));
  const calls = Math.max(0, Math.floor(limit - ceiling - margin));
  return (calls * SECOND_US) / ceiling;
}

/**
 * Takes the slot that is due, for a call that is made at once: nothing is held by a caller that might be gone before it
 * calls. A slot is due at an instant, so from any pace on calls go once that instant has come.
 * @param waitingSinceUs since when calls have been waiting without a break: a slot before that was not wanted, one
 *   after it was missed, and is caught up as far as {@link catchUpUs} allows
 */
export function takeTurn(
  pace: Pace,
  { nowUs, waitingSinceUs }: { nowUs: number; waitingSinceUs: number },
  configuredLimit: number,
): Turn {
  if (nowUs < pace.blockedUntilUs) return { kind: "wait", untilUs: pace.blockedUntilUs, pace };
  if (nowUs < pace.nextSlotUs) {
    const untilUs = pace.cautious ? Math.min(pace.nextSlotUs, nowUs + CAUTIOUS_POLL_US) : pace.nextSlotUs;
    return { kind: "wait", untilUs, pace };
  }
  if (pace.cautious) return { kind: "go", pace: { ...pace, nextSlotUs: nowUs + CAUTIOUS_INTERVAL_US } };
  const earliestUs = Math.min(nowUs, Math.max(nowUs - catchUpUs(pace, configuredLimit), waitingSinceUs));
  const slotUs = Math.max(pace.nextSlotUs, earliestUs);
  return { kind: "go", pace: { ...pace, nextSlotUs: slotUs + intervalUs(pace, nowUs, configuredLimit) } };
}

/**
 * What the end of a call changes. A lower limit counts at once; a higher one lets the rate rise slowly from where it is.
 * @param notice what the answer said, or {@link NOTHING_SAID} when it was lost
 * @param jitter a number in [0, 1) that spreads the end of a block over processes
 * @returns the same object when nothing changes
 */
export function learn(pace: Pace, notice: LimitNotice, at: { nowUs: number; jitter: number }, terms: PaceTerms): Pace {
  const { limitPerSecond } = terms;
  const stated = withLimit(pace, notice.limit, at.nowUs, limitPerSecond);
  if (notice.refused) return slowDown(pace, block(stated, refusedFor(notice, terms), at), at.nowUs, limitPerSecond);
  if (notice.remaining === 0) {
    const resetUs = (notice.resetSeconds ?? 1) * SECOND_US;
    if (notice.limit === 0 || resetUs > SECOND_US) return block(stated, Math.min(resetUs, LONGEST_RESET_US), at);
  }
  const ended = goOn(stated, at.nowUs, limitPerSecond);
  if (notice.remaining !== 0) return ended;
  const spareUs = (SLOTS_LEFT_TO_OTHERS * SECOND_US) / rateAt(ended, at.nowUs, limitPerSecond);
  const sparedUs = Math.min(Math.max(ended.nextSlotUs, at.nowUs) + spareUs, at.nowUs + SECOND_US);
  return { ...ended, nextSlotUs: Math.max(ended.nextSlotUs, sparedUs) };
}

/** A call that came to an end after the block ends the caution. One from before the block says nothing. */
function goOn(pace: Pace, nowUs: number, configuredLimit: number): Pace {
  if (!pace.cautious || nowUs < pace.blockedUntilUs) return pace;
  const soonestUs = nowUs + intervalUs(pace, nowUs, configuredLimit);
  return { ...pace, cautious: false, nextSlotUs: Math.min(pace.nextSlotUs, soonestUs) };
}

function intervalUs(pace: Pace, nowUs: number, configuredLimit: number): number {
  return SECOND_US / rateAt(pace, nowUs, configuredLimit);
}

function withLimit(pace: Pace, limit: number | undefined, nowUs: number, configuredLimit: number): Pace {
  if (limit === undefined || limit === 0 || limit === pace.limitSeen) return pace;
  return {
    ...pace,
    limitSeen: limit,
    ratePerSecond: Math.min(rateAt(pace, nowUs, configuredLimit), ceilingOf(configuredLimit, limit)),
    rateAtUs: nowUs,
  };
}

/** `Retry-After` comes before what is left of the window. */
function refusedFor({ retryAfterMs, resetSeconds }: LimitNotice, terms: PaceTerms): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, terms.longestRetryAfterMs) * 1_000;
  return Math.min((resetSeconds ?? 1) * SECOND_US, LONGEST_RESET_US);
}

/** No call is made for so long, a second at least; then one call goes ahead alone. */
function block(pace: Pace, durationUs: number, at: { nowUs: number; jitter: number }): Pace {
  const untilUs = Math.round(at.nowUs + Math.max(durationUs, SECOND_US) + at.jitter * BLOCK_SPREAD_US);
  const nextSlotUs = pace.cautious ? Math.min(pace.nextSlotUs, untilUs) : pace.nextSlotUs;
  return { ...pace, nextSlotUs, blockedUntilUs: Math.max(pace.blockedUntilUs, untilUs), cautious: true };
}

/** Calls that were under way when the block began are refused too; they count as the same refusal. */
function slowDown(before: Pace, blocked: Pace, nowUs: number, configuredLimit: number): Pace {
  if (nowUs < before.blockedUntilUs) return blocked;
  return { ...blocked, ratePerSecond: rateAt(blocked, nowUs, configuredLimit) * REFUSED_SHARE, rateAtUs: nowUs };
}

function limitOf(configuredLimit: number, limitSeen: number | undefined): number {
  return Math.min(configuredLimit, Math.max(limitSeen ?? configuredLimit, LOWEST_PER_SECOND));
}

/** Below about twenty calls per second one call less than the limit is the smaller share. */
function ceilingOf(configuredLimit: number, limitSeen: number | undefined): number {
  const limit = limitOf(configuredLimit, limitSeen);
  return limit >= 2 ? Math.min(limit * USED_SHARE, limit - 1) : limit * USED_SHARE;
}
