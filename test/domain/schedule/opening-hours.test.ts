import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_CATCH_UP } from "../../../src/domain/schedule/catch-up.ts";
import { instantsBetween, nextInstant } from "../../../src/domain/schedule/next-instants.ts";
import { closingAfter, isOpen, openingAfter, triedUntil } from "../../../src/domain/schedule/opening-hours.ts";
import { parseBlackout, parseWindow } from "../../../src/domain/schedule/parse-window.ts";
import type { DayRange, Schedule, WeekWindow } from "../../../src/domain/schedule/schedule.ts";
import { startOfSlot } from "../../../src/domain/schedule/slot-jitter.ts";
import { watchProcessorTime } from "../../support/processor-time.ts";
import { clockChanges, DAY_MS, ZONES, zones } from "./zone-data.ts";

function window(text: string): WeekWindow {
  const parsed = parseWindow(text);
  if ("problem" in parsed) throw new Error(parsed.problem);
  return parsed;
}

function dates(text: string): DayRange {
  const parsed = parseBlackout(text);
  if ("problem" in parsed) throw new Error(parsed.problem);
  return parsed;
}

function between(schedule: Schedule, from: string, until: string): string[] {
  const range = { afterMs: Date.parse(from) - 1, untilMs: Date.parse(until) };
  return instantsBetween(schedule, range, zones, 1_000).map(
    (instantMs) => `${new Date(instantMs).toISOString().slice(0, 16)}Z`,
  );
}

const Berlin = "Europe/Berlin";

describe("windows", () => {
  it("SCH-9 take away what lies outside, their end included", () => {
    const schedule: Schedule = {
      kind: "every",
      seconds: 14_400,
      timezone: Berlin,
      windows: [window("Mon-Fri 09:00-17:00")],
    };
    expect(between(schedule, "2026-01-02T00:00Z", "2026-01-05T23:00Z")).toEqual([
      ...["2026-01-02T08:00Z", "2026-01-02T12:00Z", "2026-01-05T08:00Z", "2026-01-05T12:00Z"],
    ]);
  });

  it("SCH-9 that pass midnight belong to the day they begin on", () => {
    const schedule: Schedule = { kind: "every", seconds: 7_200, timezone: "UTC", windows: [window("Fri 22:00-04:00")] };
    expect(between(schedule, "2026-01-02T00:00Z", "2026-01-04T00:00Z")).toEqual([
      ...["2026-01-02T22:00Z", "2026-01-03T00:00Z", "2026-01-03T02:00Z"],
    ]);
  });

  it("SCH-9 follow the wall clock through its changes, an hour that is repeated twice", () => {
    const schedule: Schedule = { kind: "every", seconds: 900, timezone: Berlin, windows: [window("02:30-03:00")] };
    expect(between(schedule, "2026-10-24T22:00Z", "2026-10-25T22:00Z")).toEqual([
      ...["2026-10-25T00:30Z", "2026-10-25T00:45Z", "2026-10-25T01:30Z", "2026-10-25T01:45Z"],
    ]);
    expect(between(schedule, "2026-03-28T22:00Z", "2026-03-29T22:00Z")).toEqual([]);
  });

  it("SCH-9 that no instant ever lies in leave a schedule without slots, in little time", () => {
    const usedMs = watchProcessorTime();
    const schedule: Schedule = {
      kind: "at",
      days: [1],
      hour: 9,
      minute: 0,
      timezone: Berlin,
      windows: [window("10:00-11:00")],
    };
    expect(nextInstant(schedule, Date.parse("2026-01-01"), zones)).toBeUndefined();
    expect(usedMs()).toBeLessThan(1_000);
  });
});

it("SCH-10 blackout dates have no slots, by the schedule's own calendar, both ends included", () => {
  const schedule: Schedule = {
    kind: "every",
    seconds: 43_200,
    timezone: Berlin,
    blackouts: [dates("2026-12-24..2026-12-25")],
  };
  expect(between(schedule, "2026-12-23T00:00Z", "2026-12-26T23:00Z")).toEqual([
    ...["2026-12-23T00:00Z", "2026-12-23T12:00Z", "2026-12-26T00:00Z", "2026-12-26T12:00Z"],
  ]);
  const late: Schedule = { ...schedule, seconds: 3_600 };
  expect(between(late, "2026-12-23T22:00Z", "2026-12-25T23:00Z")).toEqual(["2026-12-23T22:00Z", "2026-12-25T23:00Z"]);
});

const anyWindow = fc.record({
  days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 }),
  fromMinute: fc.integer({ min: 0, max: 1_439 }),
  untilMinute: fc.integer({ min: 0, max: 1_440 }),
});
const anyLimits = fc.record({
  timezone: fc.constantFrom(...ZONES),
  windows: fc.array(
    anyWindow.filter(({ fromMinute, untilMinute }) => fromMinute !== untilMinute),
    { minLength: 1, maxLength: 3 },
  ),
  blackouts: fc.array(
    fc.integer({ min: 20_454, max: 20_819 }).map((firstDay) => ({ firstDay, lastDay: firstDay + (firstDay % 3) })),
    { maxLength: 3 },
  ),
});
const anyInstant = fc.integer({ min: Date.parse("2026-01-01") / 60_000, max: Date.parse("2026-12-28") / 60_000 });

/** Opening and closing, found by looking at the clock in every minute. */
function expectAgreement(schedule: Schedule, startMs: number): void {
  const open = isOpen(schedule, startMs, zones);
  const untilMs = startMs + 2 * DAY_MS;
  let changeMs = startMs;
  while (changeMs < untilMs && isOpen(schedule, changeMs, zones) === open) changeMs += 60_000;
  if (open) expect(closingAfter(schedule, { openMs: startMs, untilMs }, zones)).toBe(changeMs);
  else if (changeMs < untilMs) expect(openingAfter(schedule, startMs, zones)).toBe(changeMs);
}

it("SCH-9 opening and closing agree with looking at the clock minute by minute", () => {
  fc.assert(
    fc.property(anyLimits, anyInstant, (limits, minute) => {
      expectAgreement({ kind: "every", seconds: 60, ...limits }, minute * 60_000);
    }),
    { numRuns: 150 },
  );
});

it("SCH-9 opening and closing follow a clock that changes between them", () => {
  const anyChange = fc.constantFrom(...clockChanges());
  const minutes = fc.integer({ min: -150, max: 150 });
  fc.assert(
    fc.property(anyChange, minutes, fc.integer({ min: 1, max: 200 }), minutes, (change, from, length, check) => {
      const { timezone, atMs, before } = change;
      const minuteOfDay = (((atMs / 60_000 + before + from) % 1_440) + 1_440) % 1_440;
      const window = {
        days: [0, 1, 2, 3, 4, 5, 6],
        fromMinute: minuteOfDay,
        untilMinute: (minuteOfDay + length) % 1_440,
      };
      expectAgreement({ kind: "every", seconds: 60, timezone, windows: [window] }, atMs + check * 60_000);
    }),
    { numRuns: 400 },
  );
});

describe("jitter", () => {
  const anyOwner = fc.record({
    id: fc.string({ minLength: 1 }),
    catchUp: fc.constant(DEFAULT_CATCH_UP),
    schedule: fc.record({
      kind: fc.constant("every" as const),
      seconds: fc.integer({ min: 1, max: 200_000 }),
      jitterSeconds: fc.integer({ min: 1, max: 400_000 }),
      windows: fc.constantFrom(undefined, [window("Mon-Fri 09:00-17:00")], [window("22:00-04:30")]),
    }),
  });

  it("SCH-12 delays a start by whole seconds, less than to the next slot, never past a closing, and always the same", () => {
    fc.assert(
      fc.property(anyOwner, anyInstant, (owner, minute) => {
        const slotMs = nextInstant(owner.schedule, minute * 60_000, zones);
        if (slotMs === undefined) return;
        const startMs = startOfSlot(owner, slotMs, zones);
        expect(startMs).toBe(startOfSlot({ ...owner }, slotMs, zones));
        expect((startMs - slotMs) % 1_000).toBe(0);
        expect(startMs).toBeGreaterThanOrEqual(slotMs);
        expect(startMs).toBeLessThanOrEqual(slotMs + owner.schedule.jitterSeconds * 1_000);
        expect(startMs).toBeLessThan(nextInstant(owner.schedule, slotMs, zones) ?? Number.POSITIVE_INFINITY);
        expect(isOpen(owner.schedule, startMs, zones)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("SCH-12 is spread evenly over its range, and differs from strategy to strategy", () => {
    const schedule: Schedule = { kind: "every", seconds: 3_600, jitterSeconds: 599 };
    const delays = (id: string): number[] =>
      Array.from({ length: 6_000 }, (_none, hour) => {
        const slotMs = hour * 3_600_000;
        return (startOfSlot({ id, schedule, catchUp: DEFAULT_CATCH_UP }, slotMs, zones) - slotMs) / 1_000;
      });
    const found = delays("weekly");
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const share = found.filter((delay) => Math.floor(delay / 60) === tenth).length;
      expect(share).toBeGreaterThan(480);
      expect(share).toBeLessThan(720);
    }
    const other = delays("weekly2");
    expect(found.filter((delay, index) => delay === other[index]).length).toBeLessThan(60);
  });
});

it("SCH-11 what begins is tried until the schedule closes, and where it is closed already for as long as any", () => {
  const schedule: Schedule = { kind: "every", seconds: 60, anchorSeconds: 0, windows: [window("Mon-Fri 08:00-18:00")] };
  const until = (at: string): string =>
    new Date(triedUntil(schedule, { nowMs: Date.parse(at), forSeconds: 3_600 }, zones)).toISOString();
  expect(until("2026-11-30T12:00:00Z")).toBe("2026-11-30T13:00:00.000Z");
  expect(until("2026-11-30T17:30:00Z")).toBe("2026-11-30T18:00:00.000Z");
  expect(until("2026-11-30T18:00:00Z")).toBe("2026-11-30T19:00:00.000Z");
});
