import fc from "fast-check";
import { expect, it } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import { instantsSince } from "../../../src/domain/schedule/instants-since.ts";
import { instantsBetween } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";

const zones = createIntlZones();
const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 20);

const schedules = fc.oneof(
  fc.integer({ min: 60, max: 100_000 }).map((seconds): Schedule => ({ kind: "every", seconds })),
  fc.constantFrom<Schedule>(
    { kind: "cron", expression: "30 2 * * *", timezone: "Europe/Berlin" },
    { kind: "at", days: [1, 4], hour: 9, minute: 0, timezone: "America/New_York" },
  ),
);

it("counts what going from instant to instant counts, the last included and the first not", () => {
  fc.assert(
    fc.property(schedules, fc.nat(300 * HOUR), fc.nat(300 * HOUR), (schedule, offsetMs, lengthMs) => {
      const range = { afterMs: START + offsetMs, untilMs: START + offsetMs + lengthMs };
      expect(instantsSince(schedule, range, zones)).toBe(instantsBetween(schedule, range, zones, 100_000).length);
    }),
    { numRuns: 60 },
  );
});

it("counts nothing backwards", () => {
  const schedule: Schedule = { kind: "every", seconds: 60 };
  expect(instantsSince(schedule, { afterMs: START, untilMs: START - HOUR }, zones)).toBe(0);
});

it("counts years of seconds and of a wall clock's minutes at once, up to a million", () => {
  const year = { afterMs: START, untilMs: START + 365 * 24 * HOUR };
  const minutes: Schedule = { kind: "cron", expression: "* * * * *", timezone: "UTC" };
  expect(instantsSince({ kind: "every", seconds: 1 }, year, zones)).toBe(31_536_000);
  expect(instantsSince(minutes, year, zones)).toBe(525_600);
  expect(instantsSince(minutes, { ...year, untilMs: START + 1_000 * 24 * HOUR }, zones)).toBe(1_000_000);
});

it("leaves out what lies outside of a schedule's windows, and counts from its anchor", () => {
  const windows = [{ days: [0, 1, 2, 3, 4, 5, 6], fromMinute: 540, untilMinute: 600 }];
  const day = { afterMs: START, untilMs: START + 24 * HOUR };
  expect(instantsSince({ kind: "every", seconds: 600, windows }, day, zones)).toBe(6);
  const anchored: Schedule = { kind: "every", seconds: 7 * 3_600, anchorSeconds: (START + HOUR) / 1_000 };
  expect(instantsSince(anchored, day, zones)).toBe(4);
});
