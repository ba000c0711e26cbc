import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import { instantsBetween } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";
import { planSlots } from "../../../src/domain/schedule/slots.ts";

const zones = createIntlZones();
const hourly: Schedule = { kind: "every", seconds: 3_600 };
const weekly: Schedule = { kind: "at", days: [1], hour: 9, minute: 0, timezone: "Europe/Berlin" };

function plan(schedule: Schedule, handled: string, now: string, limit = 1_000_000) {
  return planSlots(schedule, { handledMs: Date.parse(handled), nowMs: Date.parse(now) }, zones, limit);
}

describe("slots since the last handled one", () => {
  it("are none before the next instant", () => {
    expect(plan(hourly, "2026-01-01T10:00Z", "2026-01-01T10:59:59Z")).toEqual({
      dueMs: undefined,
      missed: undefined,
      handledMs: Date.parse("2026-01-01T10:00Z"),
    });
  });

  it("run the one that has just come", () => {
    const planned = plan(hourly, "2026-01-01T10:00Z", "2026-01-01T11:00:01Z");
    expect(planned).toEqual({
      dueMs: Date.parse("2026-01-01T11:00Z"),
      missed: undefined,
      handledMs: Date.parse("2026-01-01T11:00Z"),
    });
  });

  it("run only the newest after a downtime, and tell how many were missed", () => {
    expect(plan(hourly, "2026-01-01T10:00Z", "2026-01-01T15:20Z")).toEqual({
      dueMs: Date.parse("2026-01-01T15:00Z"),
      missed: {
        firstMs: Date.parse("2026-01-01T11:00Z"),
        lastMs: Date.parse("2026-01-01T14:00Z"),
        count: 4,
        atLeast: false,
      },
      handledMs: Date.parse("2026-01-01T15:00Z"),
    });
  });

  it("miss the newest too when more than half of its interval is over", () => {
    const planned = plan(hourly, "2026-01-01T10:00Z", "2026-01-01T12:31Z");
    expect(planned.dueMs).toBeUndefined();
    expect(planned.missed).toMatchObject({ count: 2, lastMs: Date.parse("2026-01-01T12:00Z") });
    expect(planned.handledMs).toBe(Date.parse("2026-01-01T12:00Z"));
  });

  it("of a weekly rule still run six hours late, and not a second later", () => {
    expect(plan(weekly, "2026-01-06T00:00Z", "2026-01-12T14:00:00Z").dueMs).toBe(Date.parse("2026-01-12T08:00Z"));
    expect(plan(weekly, "2026-01-06T00:00Z", "2026-01-12T14:00:01Z").dueMs).toBeUndefined();
  });

  it("of a rule by the second run even when the tick is late", () => {
    const planned = planSlots({ kind: "every", seconds: 1 }, { handledMs: 10_000, nowMs: 11_900 }, zones, 10);
    expect(planned.dueMs).toBe(11_000);
  });

  it("are never repeated when the clock jumps back", () => {
    expect(plan(hourly, "2026-01-01T15:00Z", "2026-01-01T11:30Z")).toMatchObject({
      dueMs: undefined,
      missed: undefined,
    });
  });

  it("of a year by the second are counted without walking through them", () => {
    const planned = plan({ kind: "every", seconds: 1 }, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 1_000);
    expect(planned.missed).toMatchObject({ count: 1_000, atLeast: true });
  });

  it("of a year by the minute are counted fast, changes of the clock included", () => {
    const started = performance.now();
    const schedule: Schedule = { kind: "cron", expression: "*/1 * * * *", timezone: "Europe/Berlin" };
    expect(plan(schedule, "2026-01-01T00:00Z", "2027-01-01T00:00Z").missed?.count).toBe(365 * 1_440 - 1);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

it("every instant is either due or missed, once, however the ticks fall", () => {
  const schedules: Schedule[] = [
    { kind: "cron", expression: "*/30 * * * *", timezone: "Europe/Berlin" },
    { kind: "cron", expression: "0,20,40 1-3 * * *", timezone: "America/New_York" },
    { kind: "cron", expression: "15 2 * * *", timezone: "Australia/Lord_Howe" },
    { kind: "every", seconds: 1_700 },
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...schedules),
      fc.integer({ min: Date.parse("2026-01-01"), max: Date.parse("2026-12-01") }),
      fc.array(fc.integer({ min: 1, max: 3 * 86_400_000 }), { minLength: 1, maxLength: 12 }),
      (schedule, startMs, waits) => {
        let handledMs = startMs;
        let nowMs = startMs;
        let counted = 0;
        let lastMs = startMs;
        for (const wait of waits) {
          nowMs += wait;
          const planned = planSlots(schedule, { handledMs, nowMs }, zones, 1_000_000);
          for (const slotMs of [planned.missed?.firstMs, planned.missed?.lastMs, planned.dueMs]) {
            if (slotMs === undefined) continue;
            expect(slotMs).toBeGreaterThanOrEqual(lastMs);
            expect(slotMs).toBeLessThanOrEqual(nowMs);
            lastMs = slotMs;
          }
          counted += (planned.missed?.count ?? 0) + (planned.dueMs === undefined ? 0 : 1);
          handledMs = planned.handledMs;
        }
        expect(counted).toBe(instantsBetween(schedule, { afterMs: startMs, untilMs: nowMs }, zones, 1_000_000).length);
      },
    ),
    { numRuns: 150 },
  );
});
