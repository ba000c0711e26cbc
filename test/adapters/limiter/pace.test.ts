import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  emptyPace,
  type LimitNotice,
  learn,
  NOTHING_SAID,
  type Pace,
  rateAt,
  takeTurn,
} from "../../../src/adapters/limiter/pace.ts";

const SECOND = 1_000_000;
const TERMS = { limitPerSecond: 200, longestRetryAfterMs: 86_400_000 };
const refusal: LimitNotice = { ...NOTHING_SAID, refused: true, retryAfterMs: 1_000 };

/** Takes turns with timers that are late by the given microseconds, and answers the instants of the calls. */
function callsOf(start: Pace, limit: number, latenesses: readonly number[]): number[] {
  const calls: number[] = [];
  let pace = start;
  let nowUs = 0;
  for (const latenessUs of latenesses) {
    const turn = takeTurn(pace, { nowUs, waitingSinceUs: 0 }, limit);
    pace = turn.pace;
    if (turn.kind === "go") calls.push(nowUs);
    else nowUs = turn.untilUs + latenessUs;
  }
  return calls;
}

function mostInOneSecond(calls: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (const [last, instant] of calls.entries()) {
    while ((calls[first] ?? 0) <= instant - SECOND) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

describe("pacing", () => {
  it("starts empty: after a restart of the machine a whole second passes before the first call", () => {
    const turn = takeTurn(emptyPace(5_000, 50), { nowUs: 5_000, waitingSinceUs: 5_000 }, 50);
    expect(turn).toMatchObject({ kind: "wait", untilUs: SECOND + 5_000 });
  });

  it("saves nothing up while nobody calls", () => {
    const at = { nowUs: 60 * SECOND, waitingSinceUs: 60 * SECOND };
    const first = takeTurn(emptyPace(0, 50), at, 50);
    expect(first.kind).toBe("go");
    const second = takeTurn(first.pace, at, 50);
    expect(second).toMatchObject({ kind: "wait" });
    expect(second.pace.nextSlotUs - at.nowUs).toBeGreaterThan(20_000);
  });

  it("never lets any second see the limit, less room for jitter, however late timers are", () => {
    const lateness = fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 60_000 }) },
      { weight: 1, arbitrary: fc.constant(400_000) },
    );
    const property = fc.property(
      fc.constantFrom(2, 5, 10, 20, 50, 200, 1_000),
      fc.array(lateness, { minLength: 100, maxLength: 600 }),
      (limit, latenesses) => {
        const most = mostInOneSecond(callsOf(emptyPace(0, limit), limit, latenesses));
        return most <= (limit >= 50 ? limit - 1 : limit);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it("uses at least 95 % of the rate when timers are a few milliseconds late", () => {
    for (const limit of [50, 200]) {
      const calls = callsOf(
        emptyPace(0, limit),
        limit,
        Array.from({ length: limit * 40 }, (_, n) => (n % 7) * 1_000),
      );
      const first = calls[0] ?? 0;
      const used = calls.filter((instant) => instant < first + 10 * SECOND).length;
      expect(used / (limit * 10)).toBeGreaterThanOrEqual(0.95);
    }
  });
});

describe("learning from answers", () => {
  const at = { nowUs: 100 * SECOND, jitter: 0 };
  const fresh = emptyPace(0, 200);

  it("follows a lower limit at once", () => {
    const pace = learn(fresh, { ...NOTHING_SAID, limit: 50 }, at, TERMS);
    expect(rateAt(pace, at.nowUs, 200)).toBeLessThan(50);
  });

  it("never exceeds the configured limit, whatever the service states", () => {
    const pace = learn(fresh, { ...NOTHING_SAID, limit: 999_999_999 }, at, TERMS);
    expect(rateAt(pace, at.nowUs + 3_600 * SECOND, 200)).toBeLessThan(200);
  });

  it("recovers slowly when the limit is raised again", () => {
    const lowered = learn(fresh, { ...NOTHING_SAID, limit: 50 }, at, TERMS);
    const raised = learn(lowered, { ...NOTHING_SAID, limit: 200 }, at, TERMS);
    expect(rateAt(raised, at.nowUs + SECOND, 200)).toBeLessThan(52);
    expect(rateAt(raised, at.nowUs + 100 * SECOND, 200)).toBeCloseTo(191);
  });

  const afterUs = (us: number) => ({ nowUs: at.nowUs + us, waitingSinceUs: at.nowUs });

  it("stops everybody after a refusal, then lets one call go ahead", () => {
    const blocked = learn(fresh, refusal, at, TERMS);
    expect(takeTurn(blocked, afterUs(SECOND / 2), 200)).toMatchObject({ kind: "wait", untilUs: at.nowUs + SECOND });
    const probe = takeTurn(blocked, afterUs(SECOND), 200);
    expect(probe.kind).toBe("go");
    expect(takeTurn(probe.pace, afterUs(SECOND + 100_000), 200).kind).toBe("wait");
    const endUs = at.nowUs + SECOND + 120_000;
    const answered = learn(probe.pace, NOTHING_SAID, { nowUs: endUs, jitter: 0 }, TERMS);
    expect(takeTurn(answered, afterUs(SECOND + 130_000), 200).kind).toBe("go");
  });

  it("lets the next one go after five seconds when nobody hears of the end of the first", () => {
    const probe = takeTurn(learn(fresh, refusal, at, TERMS), afterUs(SECOND), 200);
    expect(takeTurn(probe.pace, afterUs(5.9 * SECOND), 200).kind).toBe("wait");
    const next = takeTurn(probe.pace, afterUs(6 * SECOND), 200);
    expect(next.kind).toBe("go");
    expect(takeTurn(next.pace, afterUs(7 * SECOND), 200).kind).toBe("wait");
  });

  it("asks again as soon as the service says when the one call that went ahead is refused too", () => {
    const probe = takeTurn(learn(fresh, refusal, at, TERMS), afterUs(SECOND), 200);
    const again = learn(probe.pace, refusal, { nowUs: at.nowUs + 1.1 * SECOND, jitter: 0 }, TERMS);
    expect(takeTurn(again, afterUs(2 * SECOND), 200).kind).toBe("wait");
    expect(takeTurn(again, afterUs(2.1 * SECOND), 200).kind).toBe("go");
  });

  it("does not go on because a call from before the refusal was answered", () => {
    const blocked = learn(fresh, refusal, at, TERMS);
    expect(learn(blocked, NOTHING_SAID, { nowUs: at.nowUs + 10, jitter: 0 }, TERMS)).toBe(blocked);
  });

  it("slows down once for all refusals of one moment", () => {
    let pace = fresh;
    for (let n = 0; n < 20; n++) pace = learn(pace, refusal, { nowUs: at.nowUs + n, jitter: 0 }, TERMS);
    expect(rateAt(pace, at.nowUs, 200)).toBeCloseTo(191 * 0.7, 0);
  });

  it("keeps to a wait of hours, and to one of years as long as the owner allows", () => {
    const hours = learn(fresh, { ...refusal, retryAfterMs: 7_200_000 }, at, TERMS);
    expect(takeTurn(hours, afterUs(7_199 * SECOND), 200).kind).toBe("wait");
    expect(takeTurn(hours, afterUs(7_200 * SECOND), 200).kind).toBe("go");
    const years = learn(fresh, { ...refusal, retryAfterMs: 1e15 }, at, { ...TERMS, longestRetryAfterMs: 3_600_000 });
    expect(years.blockedUntilUs).toBe(at.nowUs + 3_600 * SECOND);
  });

  it("takes Retry-After before what is left of the window, and that for a minute at most", () => {
    const both = learn(fresh, { ...refusal, retryAfterMs: 2_000, resetSeconds: 50 }, at, TERMS);
    expect(both.blockedUntilUs).toBe(at.nowUs + 2 * SECOND);
    const left = learn(fresh, { ...refusal, retryAfterMs: undefined, resetSeconds: 50 }, at, TERMS);
    expect(left.blockedUntilUs).toBe(at.nowUs + 50 * SECOND);
    const used = learn(fresh, { ...NOTHING_SAID, remaining: 0, resetSeconds: 999_999_999 }, at, TERMS);
    expect(used.blockedUntilUs).toBe(at.nowUs + 60 * SECOND);
  });

  it("waits where nothing is allowed and nothing is left, although the call was answered", () => {
    let pace = fresh;
    let calls = 0;
    for (let us = SECOND; us <= 11 * SECOND; us += 10_000) {
      const turn = takeTurn(pace, afterUs(us), 200);
      pace = turn.pace;
      if (turn.kind === "wait") continue;
      calls++;
      const closed = { ...NOTHING_SAID, limit: 0, remaining: 0, resetSeconds: 1 };
      pace = learn(pace, closed, { nowUs: at.nowUs + us, jitter: 0 }, TERMS);
    }
    expect(calls).toBeLessThanOrEqual(11);
    expect(calls).toBeGreaterThanOrEqual(9);
  });

  it("is never more than seconds behind, however many answers say that the second is used up", () => {
    let pace = fresh;
    for (let n = 0; n < 1_000; n++) pace = learn(pace, { ...NOTHING_SAID, remaining: 0, resetSeconds: 1 }, at, TERMS);
    expect(pace.nextSlotUs).toBeLessThanOrEqual(at.nowUs + SECOND);
  });

  it("does not slow down because the count falls inside a window, which is what pacing looks like", () => {
    expect(learn(fresh, { ...NOTHING_SAID, limit: undefined, remaining: 3, resetSeconds: 1 }, at, TERMS)).toBe(fresh);
  });

  it("makes room when others used up the key's second", () => {
    const pace = learn(fresh, { ...NOTHING_SAID, remaining: 0, resetSeconds: 1 }, at, TERMS);
    expect(pace.nextSlotUs).toBeGreaterThan(at.nowUs);
  });
});
