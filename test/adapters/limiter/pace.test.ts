import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  catchUpUs,
  emptyPace,
  type LimitNotice,
  learn,
  type Pace,
  rateAt,
  reserve,
} from "../../../src/adapters/limiter/pace.ts";

const SECOND = 1_000_000;
const silent: LimitNotice = {
  refused: false,
  retryAfterMs: undefined,
  limit: undefined,
  remaining: undefined,
  resetSeconds: undefined,
};
const refusal: LimitNotice = { ...silent, refused: true, retryAfterMs: 1_000 };

/** Takes slots with timers that are late by the given microseconds, and answers the instants of the calls. */
function callsOf(start: Pace, limit: number, latenesses: readonly number[]): number[] {
  const calls: number[] = [];
  let pace = start;
  let nowUs = 0;
  for (const [index, latenessUs] of latenesses.entries()) {
    const taken = reserve(pace, { nowUs, busy: index > 0 }, limit);
    pace = taken.pace;
    if (taken.kind === "wait") {
      nowUs = taken.untilUs;
      continue;
    }
    nowUs = Math.max(nowUs, taken.slotUs + latenessUs);
    if (nowUs - taken.slotUs <= catchUpUs(pace, limit)) calls.push(nowUs);
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
    expect(reserve(emptyPace(5_000, 50), { nowUs: 5_000, busy: false }, 50)).toMatchObject({ slotUs: SECOND + 5_000 });
  });

  it("saves nothing up while nobody calls", () => {
    let pace = emptyPace(0, 50);
    const instants: number[] = [];
    for (let call = 0; call < 3; call++) {
      const taken = reserve(pace, { nowUs: 60 * SECOND, busy: call > 0 }, 50);
      pace = taken.pace;
      if (taken.kind === "slot") instants.push(taken.slotUs);
    }
    const gaps = instants.slice(1).map((instant, index) => instant - (instants[index] ?? 0));
    expect(instants[0]).toBe(60 * SECOND);
    expect(Math.min(...gaps)).toBeGreaterThan(20_000);
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
        Array.from({ length: limit * 20 }, (_, n) => (n % 7) * 1_000),
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
    const pace = learn(fresh, { ...silent, limit: 50 }, at, 200);
    expect(rateAt(pace, at.nowUs, 200)).toBeLessThan(50);
  });

  it("never exceeds the configured limit, whatever the service states", () => {
    const pace = learn(fresh, { ...silent, limit: 999_999_999 }, at, 200);
    expect(rateAt(pace, at.nowUs + 3_600 * SECOND, 200)).toBeLessThan(200);
  });

  it("recovers slowly when the limit is raised again", () => {
    const lowered = learn(fresh, { ...silent, limit: 50 }, at, 200);
    const raised = learn(lowered, { ...silent, limit: 200 }, at, 200);
    expect(rateAt(raised, at.nowUs + SECOND, 200)).toBeLessThan(52);
    expect(rateAt(raised, at.nowUs + 100 * SECOND, 200)).toBeCloseTo(191);
  });

  it("stops everybody after a refusal, then lets one call go ahead", () => {
    const blocked = learn(fresh, refusal, at, 200);
    const early = reserve(blocked, { nowUs: at.nowUs + SECOND / 2, busy: true }, 200);
    expect(early).toMatchObject({ kind: "wait", untilUs: at.nowUs + SECOND });
    const probe = reserve(blocked, { nowUs: at.nowUs + SECOND, busy: true }, 200);
    expect(probe).toMatchObject({ kind: "slot" });
    const behind = reserve(probe.pace, { nowUs: at.nowUs + SECOND + 100_000, busy: true }, 200);
    expect(behind.kind).toBe("wait");
    const answered = learn(probe.pace, silent, { nowUs: at.nowUs + SECOND + 120_000, jitter: 0 }, 200);
    expect(reserve(answered, { nowUs: at.nowUs + SECOND + 120_000, busy: true }, 200).kind).toBe("slot");
  });

  it("gives a lost probe up", () => {
    const blocked = learn(fresh, refusal, at, 200);
    const probe = reserve(blocked, { nowUs: at.nowUs + SECOND, busy: true }, 200);
    expect(reserve(probe.pace, { nowUs: at.nowUs + 7 * SECOND, busy: true }, 200).kind).toBe("slot");
  });

  it("slows down once for all refusals of one moment", () => {
    let pace = fresh;
    for (let n = 0; n < 20; n++) pace = learn(pace, refusal, { nowUs: at.nowUs + n, jitter: 0 }, 200);
    expect(rateAt(pace, at.nowUs, 200)).toBeCloseTo(191 * 0.7, 0);
  });

  it("does not believe a wait of years", () => {
    const pace = learn(fresh, { ...refusal, retryAfterMs: 1e15 }, at, 200);
    expect(pace.blockedUntilUs).toBeLessThanOrEqual(at.nowUs + 61 * SECOND);
    const reset = learn(fresh, { ...silent, remaining: 0, resetSeconds: 999_999_999 }, at, 200);
    expect(reset.blockedUntilUs).toBeLessThanOrEqual(at.nowUs + 61 * SECOND);
  });

  it("does not slow down because the count falls inside a window, which is what pacing looks like", () => {
    expect(learn(fresh, { ...silent, limit: undefined, remaining: 3, resetSeconds: 1 }, at, 200)).toBe(fresh);
  });

  it("makes room when others used up the key's second", () => {
    const pace = learn(fresh, { ...silent, remaining: 0, resetSeconds: 1 }, at, 200);
    expect(pace.nextSlotUs).toBeGreaterThan(at.nowUs);
  });
});
