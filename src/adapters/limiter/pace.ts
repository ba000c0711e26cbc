/**
 * The arithmetic of pacing, without clock or storage. Calls get slots that lie one interval apart (GCRA with a burst of
 * one), because the service counts in fixed windows whose phase nobody tells: whatever was saved up could fall into one
 * window. Times are microseconds on a clock that all processes of the machine share.
 */

/** What is shared about one key. */
export interface Pace {
  readonly nextSlotUs: number;
  /** nobody calls before this, after a refusal */
  readonly blockedUntilUs: number;
  /** after a refusal one call goes ahead alone; `sent`: its answer is awaited */
  readonly probe: "none" | "wanted" | "sent";
  /** an awaited probe is given up after this */
  readonly probeUntilUs: number;
  /** calls per second at `rateAtUs`; it rises from there up to the ceiling */
  readonly ratePerSecond: number;
  readonly rateAtUs: number;
  /** limit that the service last stated, undefined while it stated none */
  readonly limitSeen: number | undefined;
}

/** A right to call at `slotUs` (which may be a little past), or a wait before asking again. */
export type Reservation =
  | { readonly kind: "slot"; readonly slotUs: number; readonly pace: Pace }
  | { readonly kind: "wait"; readonly untilUs: number; readonly pace: Pace };

/** What an answer said about limits; undefined where it said nothing that can be read. */
export interface LimitNotice {
  readonly refused: boolean;
  readonly retryAfterMs: number | undefined;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  readonly resetSeconds: number | undefined;
}

/** Share of the limit that is used. The rest keeps calls that arrive late out of the next window's count. */
const USED_SHARE = 0.955;
/** Share of the limit, at least one call, that stays free whatever is caught up: 20 ms of jitter. */
const JITTER_SHARE = 0.02;
/** After a refusal the rate falls to this share of itself ... */
const REFUSED_SHARE = 0.7;
/** ... and every second this share of the limit comes back. */
const RECOVERY_PER_SECOND = 0.01;
/** A window is a second; a longer one is believed up to here. */
const LONGEST_BLOCK_US = 60_000_000;
const SECOND_US = 1_000_000;
const PROBE_PATIENCE_US = 5_000_000;
const PROBE_POLL_US = 50_000;
/** A stated zero without a refusal means that others use the key too: leave them these slots. */
const SLOTS_LEFT_TO_OTHERS = 2;

/** A pace that was never used: it starts empty, because nobody knows what was called in the last second. */
export function emptyPace(nowUs: number, configuredLimit: number): Pace {
  return {
    nextSlotUs: nowUs + SECOND_US,
    blockedUntilUs: 0,
    probe: "none",
    probeUntilUs: 0,
    ratePerSecond: ceilingOf(configuredLimit, undefined),
    rateAtUs: nowUs,
    limitSeen: undefined,
  };
}

/** The rate now, in calls per second: never above the configured limit, whatever the service says. */
export function rateAt(pace: Pace, nowUs: number, configuredLimit: number): number {
  const seconds = Math.max(0, nowUs - pace.rateAtUs) / SECOND_US;
  const recovered = pace.ratePerSecond + seconds * RECOVERY_PER_SECOND * configuredLimit;
  return Math.min(ceilingOf(configuredLimit, pace.limitSeen), recovered);
}

/**
 * How late a slot may be used, in microseconds. Timers are late; what they lose is caught up as far as the calls of any
 * one second stay below limit less jitter.
 */
export function catchUpUs(pace: Pace, configuredLimit: number): number {
  const limit = Math.min(configuredLimit, pace.limitSeen ?? configuredLimit);
  const ceiling = ceilingOf(configuredLimit, pace.limitSeen);
  const margin = Math.max(1, Math.ceil(limit * JITTER_SHARE));
  const calls = Math.max(0, Math.floor(limit - ceiling - margin));
  return (calls * SECOND_US) / ceiling;
}

/**
 * Takes the next slot. It must be used within {@link catchUpUs} of its instant, or given up.
 * @param busy calls were waiting ever since the last slot, so that a past slot was missed rather than not wanted
 */
export function reserve(pace: Pace, at: { nowUs: number; busy: boolean }, configuredLimit: number): Reservation {
  const { nowUs } = at;
  if (nowUs < pace.blockedUntilUs) return { kind: "wait", untilUs: pace.blockedUntilUs, pace };
  if (pace.probe === "sent" && nowUs < pace.probeUntilUs) {
    return { kind: "wait", untilUs: Math.min(pace.probeUntilUs, nowUs + PROBE_POLL_US), pace };
  }
  const intervalUs = SECOND_US / rateAt(pace, nowUs, configuredLimit);
  const earliestUs = at.busy ? nowUs - catchUpUs(pace, configuredLimit) : nowUs;
  const slotUs = Math.max(pace.nextSlotUs, earliestUs);
  const probing = pace.probe !== "none";
  return {
    kind: "slot",
    slotUs,
    pace: {
      ...pace,
      nextSlotUs: slotUs + intervalUs,
      probe: probing ? "sent" : "none",
      probeUntilUs: probing ? slotUs + PROBE_PATIENCE_US : pace.probeUntilUs,
    },
  };
}

/**
 * What an answer changes. A lower limit counts at once; a higher one lets the rate rise slowly from where it is.
 * @param jitter a number in [0, 1) that spreads the end of a block over processes
 * @returns the same object when nothing changes
 */
export function learn(
  pace: Pace,
  notice: LimitNotice,
  at: { nowUs: number; jitter: number },
  configuredLimit: number,
): Pace {
  const stated = withLimit(pace, notice.limit, at.nowUs, configuredLimit);
  if (notice.refused) return block(stated, notice, at, configuredLimit);
  const answered: Pace = stated.probe === "sent" ? { ...stated, probe: "none" } : stated;
  if (notice.remaining !== 0) return answered;
  if (notice.resetSeconds !== undefined && notice.resetSeconds > 1) {
    const untilUs = at.nowUs + Math.min(notice.resetSeconds * SECOND_US, LONGEST_BLOCK_US);
    return { ...answered, blockedUntilUs: Math.max(answered.blockedUntilUs, untilUs) };
  }
  const spareUs = (SLOTS_LEFT_TO_OTHERS * SECOND_US) / rateAt(answered, at.nowUs, configuredLimit);
  return { ...answered, nextSlotUs: Math.max(answered.nextSlotUs, at.nowUs) + spareUs };
}

function withLimit(pace: Pace, limit: number | undefined, nowUs: number, configuredLimit: number): Pace {
  if (limit === undefined || limit === pace.limitSeen) return pace;
  return {
    ...pace,
    limitSeen: limit,
    ratePerSecond: Math.min(rateAt(pace, nowUs, configuredLimit), ceilingOf(configuredLimit, limit)),
    rateAtUs: nowUs,
  };
}

/** Calls that were under way when the block began are refused too; they count as the same refusal. */
function block(pace: Pace, notice: LimitNotice, at: { nowUs: number; jitter: number }, configuredLimit: number): Pace {
  const toldUs = Math.min((notice.retryAfterMs ?? 0) * 1_000, LONGEST_BLOCK_US);
  const untilUs = Math.round(at.nowUs + Math.max(toldUs, SECOND_US) + (at.jitter * SECOND_US) / 4);
  const blocked: Pace = {
    ...pace,
    blockedUntilUs: Math.max(pace.blockedUntilUs, untilUs),
    nextSlotUs: Math.max(pace.nextSlotUs, untilUs),
    probe: "wanted",
  };
  if (at.nowUs < pace.blockedUntilUs) return blocked;
  return {
    ...blocked,
    ratePerSecond: rateAt(pace, at.nowUs, configuredLimit) * REFUSED_SHARE,
    rateAtUs: at.nowUs,
  };
}

/** Below about twenty calls per second one call less than the limit is the smaller share. */
function ceilingOf(configuredLimit: number, limitSeen: number | undefined): number {
  const limit = Math.min(configuredLimit, limitSeen ?? configuredLimit);
  return limit >= 2 ? Math.min(limit * USED_SHARE, limit - 1) : limit * USED_SHARE;
}
