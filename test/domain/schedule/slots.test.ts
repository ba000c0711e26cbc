import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import { type CatchUp, DEFAULT_CATCH_UP } from "../../../src/domain/schedule/catch-up.ts";
import { instantsBetween } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";
import { planSlots, type SlotMoment, slotsBetween } from "../../../src/domain/schedule/slots.ts";
import { watchProcessorTime } from "../../support/processor-time.ts";

const zones = createIntlZones();
const HOUR_MS = 3_600_000;
const hourly: Schedule = { kind: "every", seconds: 3_600 };
const weekly: Schedule = { kind: "at", days: [1], hour: 9, minute: 0, timezone: "Europe/Berlin" };

type Change = Partial<Omit<SlotMoment, "handledMs" | "nowMs">> & { catchUp?: Partial<CatchUp>; startMs?: number };

function plan(schedule: Schedule, handled: string, now: string, change: Change = {}) {
  const { catchUp, startMs, ...moment } = change;
  const strategy = { id: "weekly", schedule, catchUp: { ...DEFAULT_CATCH_UP, ...catchUp }, startMs };
  const at = { handledMs: at2026(handled), nowMs: at2026(now) };
  return planSlots(
    strategy,
    { ...at, barred: undefined, barredUntilMs: 0, haltedUntilMs: 0, isBusy: false, ended: [], ...moment },
    zones,
  );
}

function at2026(text: string): number {
  return Date.parse(text.includes("-") ? text : `2026-01-01T${text}Z`);
}

function gap(first: string, last: string, count: number, reason = "missed") {
  return { firstMs: at2026(first), lastMs: at2026(last), count, reason };
}

const run = (slot: string, slots = 1) => ({ slotMs: at2026(slot), slots });

describe("slots since the last handled one", () => {
  it("are none before the next instant", () => {
    expect(plan(hourly, "10:00", "10:59:59")).toEqual({ gaps: [], run: undefined, handledMs: at2026("10:00") });
  });

  it("run the one that has just come", () => {
    expect(plan(hourly, "10:00", "11:00:01")).toEqual({ gaps: [], run: run("11:00"), handledMs: at2026("11:00") });
  });

  it("of a rule by the second run even when the tick is late", () => {
    expect(plan({ kind: "every", seconds: 1 }, "10:00:10", "10:00:11.900").run).toEqual(run("10:00:11"));
  });

  it("SCH-19 are never repeated when the clock jumps back", () => {
    expect(plan(hourly, "15:00", "11:30")).toEqual({ gaps: [], run: undefined, handledMs: at2026("15:00") });
  });

  it("of a year by the second are counted without walking through them", () => {
    const planned = plan({ kind: "every", seconds: 1 }, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
    expect(planned.gaps).toMatchObject([{ count: 365 * 86_400 - 1 }]);
  });

  it.each([
    ["cron", { kind: "cron", expression: "*/1 * * * *", timezone: "Europe/Berlin" }, 365 * 1_440 - 1],
    [
      "windows",
      { kind: "every", seconds: 1, windows: [{ days: [1], fromMinute: 540, untilMinute: 600 }] },
      52 * 3_600 - 1,
    ],
  ] as [string, Schedule, number][])("of a year in narrow steps are counted fast: %s", (_name, schedule, count) => {
    const usedMs = watchProcessorTime();
    const planned = plan(schedule, "2026-01-01T00:00Z", "2026-12-28T09:59:59Z");
    const slots = slotsBetween(schedule, { afterMs: at2026("00:00"), untilMs: Date.parse("2027-01-01") }, zones);
    if (schedule.kind === "every") expect(planned.gaps[0]?.count).toBe(count);
    else expect(slots?.count).toBe(count + 1);
    expect(usedMs()).toBeLessThan(2_000);
  });
});

describe("catch-up", () => {
  it("SCH-13 `skip` runs no slot that is late, whatever its interval", () => {
    const skip = { catchUp: { policy: "skip" } } as const;
    expect(plan(hourly, "10:00", "11:00:09", skip).run).toEqual(run("11:00"));
    expect(plan(hourly, "10:00", "12:00:11", skip)).toEqual({
      ...{ gaps: [gap("11:00", "12:00", 2)], run: undefined, handledMs: at2026("12:00") },
    });
  });

  it("SCH-14 `latest` runs only the newest after a downtime, and reports how many were missed", () => {
    expect(plan(hourly, "10:00", "15:20")).toEqual({
      ...{ gaps: [gap("11:00", "14:00", 4)], run: run("15:00"), handledMs: at2026("15:00") },
    });
  });

  it("SCH-14 `latest` misses the newest too when more than half of its interval is over", () => {
    expect(plan(hourly, "10:00", "12:30").run).toEqual(run("12:00"));
    const late = plan(hourly, "10:00", "12:30:01");
    expect(late).toEqual({ gaps: [gap("11:00", "12:00", 2)], run: undefined, handledMs: at2026("12:00") });
  });

  it("SCH-14 `latest` of a weekly rule still runs six hours late, and not a second later", () => {
    expect(plan(weekly, "2026-01-06T00:00Z", "2026-01-12T14:00:00Z").run).toEqual(run("2026-01-12T08:00Z"));
    expect(plan(weekly, "2026-01-06T00:00Z", "2026-01-12T14:00:01Z").run).toBeUndefined();
  });

  it("SCH-14 `latest` takes a window of its own", () => {
    const within = { catchUp: { windowSeconds: 86_400 } };
    expect(plan(weekly, "2026-01-06T00:00Z", "2026-01-13T08:00:00Z", within).run).toEqual(run("2026-01-12T08:00Z"));
    expect(plan(weekly, "2026-01-06T00:00Z", "2026-01-13T08:00:01Z", within).run).toBeUndefined();
  });

  it("SCH-15 `all` runs the missed slots oldest first, one at a time, as many as may wait", () => {
    const all = { catchUp: { policy: "all", windowSeconds: 6 * 3_600, maxRuns: 3 } } as const;
    const first = plan(hourly, "04:00", "10:20", all);
    expect(first).toEqual({ gaps: [gap("05:00", "07:00", 3)], run: run("08:00"), handledMs: at2026("08:00") });
    expect(plan(hourly, "08:00", "10:21", { ...all, isBusy: true })).toEqual({
      ...{ gaps: [], run: undefined, handledMs: at2026("08:00") },
    });
    expect(plan(hourly, "08:00", "10:22", all).run).toEqual(run("09:00"));
    expect(plan(hourly, "09:00", "10:23", all)).toEqual({ gaps: [], run: run("10:00"), handledMs: at2026("10:00") });
  });

  it("SCH-15 `all` drops a slot that has waited longer than the window", () => {
    const all = { catchUp: { policy: "all", windowSeconds: 3_600, maxRuns: 9 }, isBusy: true } as const;
    expect(plan(hourly, "08:00", "10:30", all)).toEqual({
      ...{ gaps: [gap("09:00", "09:00", 1, "overlap")], run: undefined, handledMs: at2026("09:00") },
    });
    const downtime = plan(hourly, "02:00", "10:30", all);
    expect(downtime.gaps, "nobody was there while they grew old").toEqual([gap("03:00", "09:00", 7)]);
  });

  it("SCH-16 `accumulate` lets one run stand for the slots, up to the largest multiple", () => {
    const sum = { catchUp: { policy: "accumulate", windowSeconds: 86_400, maxMultiple: 3 } } as const;
    expect(plan(hourly, "04:00", "10:20", sum)).toEqual({
      gaps: [gap("05:00", "07:00", 3), gap("08:00", "09:00", 2, "accumulated")],
      ...{ run: run("10:00", 3), handledMs: at2026("10:00") },
    });
    expect(plan(hourly, "09:00", "10:20", sum).run).toEqual(run("10:00", 1));
  });

  it("SCH-16 `accumulate` waits while a run is open, and then stands for what came meanwhile", () => {
    const sum = { catchUp: { policy: "accumulate", windowSeconds: 86_400, maxMultiple: 5 } } as const;
    expect(plan(hourly, "08:00", "10:20", { ...sum, isBusy: true }).handledMs).toBe(at2026("08:00"));
    expect(plan(hourly, "08:00", "10:21", sum).run).toEqual(run("10:00", 2));
  });

  it("SCH-16 a sum makes up for no slot of before the strategy's start once that is over", () => {
    const sum = { catchUp: { policy: "accumulate", windowSeconds: 86_400, maxMultiple: 5 } } as const;
    const from = (start: string) => plan(hourly, "05:00", "10:20", { ...sum, startMs: at2026(start) });
    expect(from("08:30")).toEqual({
      gaps: [gap("06:00", "08:00", 3), gap("09:00", "09:00", 1, "accumulated")],
      ...{ run: run("10:00", 2), handledMs: at2026("10:00") },
    });
    expect(from("09:00").run, "its first slot may be at its start").toEqual(run("10:00", 2));
    expect(from("10:00").run).toEqual(run("10:00", 1));
    expect(from("11:00").gaps, "none of them trades").toEqual([gap("06:00", "09:00", 4, "accumulated")]);
  });

  it("SCH-17 a slot that comes while the strategy's run is open does not start another", () => {
    expect(plan(hourly, "10:00", "11:00", { isBusy: true })).toEqual({
      ...{ gaps: [gap("11:00", "11:00", 1, "overlap")], run: undefined, handledMs: at2026("11:00") },
    });
  });

  it.each(["paused", "halted", "exits-only"] as const)("SCH-18 slots in the mode %s end with its name", (barred) => {
    const all = { catchUp: { policy: "all", windowSeconds: 9_000, maxRuns: 9 } } as const;
    expect(plan(hourly, "08:00", "12:10", { ...all, barred })).toEqual({
      gaps: [gap("09:00", "09:00", 1), gap("10:00", "12:00", 3, barred)],
      ...{ run: undefined, handledMs: at2026("12:00") },
    });
  });

  it("SCH-18 what passed before the mode was set back to active is not caught up", () => {
    const sum = { catchUp: { policy: "accumulate", windowSeconds: 86_400, maxMultiple: 9 } } as const;
    expect(plan(hourly, "08:00", "12:10", { ...sum, barredUntilMs: at2026("11:00:01") })).toEqual({
      gaps: [gap("09:00", "11:00", 3, "paused")],
      ...{ run: run("12:00"), handledMs: at2026("12:00") },
    });
    expect(plan(hourly, "08:00", "12:10", { ...sum, barredUntilMs: at2026("12:05") }).run).toBeUndefined();
  });

  it("what passed before another database's doings were accepted is not caught up, and is no pause", () => {
    const sum = { catchUp: { policy: "accumulate", windowSeconds: 86_400, maxMultiple: 9 } } as const;
    const at = { ...sum, haltedUntilMs: at2026("10:30"), barredUntilMs: at2026("11:00:01") };
    expect(plan(hourly, "08:00", "12:10", at)).toEqual({
      gaps: [gap("09:00", "10:00", 2, "halted"), gap("11:00", "11:00", 1, "paused")],
      ...{ run: run("12:00"), handledMs: at2026("12:00") },
    });
  });
});

const office = [{ days: [1, 2, 3, 4, 5], fromMinute: 540, untilMinute: 1_020 }];

it("SCH-11 a late slot does not start outside of the windows, and is reported so", () => {
  const schedule: Schedule = { ...hourly, windows: office };
  const within = { catchUp: { windowSeconds: 86_400 } };
  expect(plan(schedule, "15:00", "16:59:59", within).run).toEqual(run("16:00"));
  expect(plan(schedule, "15:00", "17:00:00", within)).toEqual({
    ...{ gaps: [gap("16:00", "16:00", 1, "outside_window")], run: undefined, handledMs: at2026("16:00") },
  });
  const everySecond: Schedule = { kind: "every", seconds: 1, windows: office };
  expect(plan(everySecond, "16:59:58", "17:00:00.400", within).run).toEqual(run("16:59:59"));
});

const policies: Partial<CatchUp>[] = [
  { policy: "skip" },
  { policy: "latest" },
  { policy: "all", windowSeconds: 86_400, maxRuns: 3 },
  { policy: "accumulate", windowSeconds: 2 * 86_400, maxMultiple: 4 },
];
const schedules: Schedule[] = [
  { kind: "cron", expression: "*/30 * * * *", timezone: "Europe/Berlin" },
  { kind: "cron", expression: "0,20,40 1-3 * * *", timezone: "America/New_York", jitterSeconds: 1_000 },
  { kind: "cron", expression: "15 2 * * *", timezone: "Australia/Lord_Howe" },
  {
    kind: "at",
    days: [1],
    monthDays: [1, 31],
    hour: 2,
    minute: 30,
    timezone: "Pacific/Chatham",
    jitterSeconds: 90_000,
  },
  { kind: "every", seconds: 1_700 },
  { kind: "every", seconds: 7_200, anchorSeconds: 1_767_225_630, timezone: "Europe/Berlin", windows: office },
  { kind: "every", seconds: 21_600, blackouts: [{ firstDay: 20_500, lastDay: 20_600 }], jitterSeconds: 3_600 },
];
const anySample = fc.record({
  waitMs: fc.integer({ min: -HOUR_MS, max: 3 * 86_400_000 }),
  isBusy: fc.boolean(),
  barred: fc.constantFrom(undefined, undefined, "paused" as const),
});

it("SCH-1 every slot is given exactly one end, in order, however clocks, modes and open runs fall", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...schedules),
      fc.constantFrom(...policies),
      fc.integer({ min: Date.parse("2026-01-01"), max: Date.parse("2026-12-01") }),
      fc.array(anySample, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(undefined, 3_600_000, 86_400_000),
      (schedule, policy, startMs, checks, beginsMs) => {
        const begins = beginsMs === undefined ? undefined : startMs + beginsMs;
        const strategy = { id: "any", schedule, catchUp: { ...DEFAULT_CATCH_UP, ...policy }, startMs: begins };
        let handledMs = startMs;
        let nowMs = startMs;
        let lastMs = startMs;
        let counted = 0;
        for (const { waitMs, isBusy, barred } of checks) {
          nowMs += waitMs;
          const planned = planSlots(
            strategy,
            { handledMs, nowMs, barred, barredUntilMs: 0, haltedUntilMs: 0, isBusy, ended: [] },
            zones,
          );
          for (const { firstMs, lastMs: untilMs, count } of planned.gaps) {
            expect(firstMs).toBeGreaterThan(lastMs);
            expect(untilMs).toBeGreaterThanOrEqual(firstMs);
            counted += count;
            lastMs = untilMs;
          }
          if (planned.run !== undefined) {
            expect(isBusy || barred !== undefined).toBe(false);
            expect(planned.run.slotMs).toBeGreaterThan(lastMs);
            expect(planned.run.slotMs).toBeLessThanOrEqual(nowMs);
            counted += 1;
            lastMs = planned.run.slotMs;
          }
          expect(planned.handledMs).toBe(lastMs === startMs ? startMs : lastMs);
          handledMs = planned.handledMs;
        }
        const all = instantsBetween(schedule, { afterMs: startMs, untilMs: handledMs }, zones, 1_000_000);
        expect(counted).toBe(all.length);
      },
    ),
    { numRuns: 300 },
  );
});
