import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import { instantsBetween, nextInstant, shortestIntervalSeconds } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";
import { civilDay } from "../../../src/domain/schedule/wall-clock.ts";
import { watchProcessorTime } from "../../support/processor-time.ts";

const zones = createIntlZones();
const DAY = 86_400_000;
const _ALL_DAYS = [0, 1, 2, 3, 4, 5, 6];

function cron(expression: string, timezone: string): Schedule {
  return { kind: "cron", expression, timezone };
}

function iso(instants: readonly number[]): string[] {
  return instants.map((instantMs) => new Date(instantMs).toISOString().replace(".000Z", "Z"));
}

function between(schedule: Schedule, from: string, until: string): string[] {
  return iso(instantsBetween(schedule, { afterMs: Date.parse(from), untilMs: Date.parse(until) }, zones, 1_000));
}

describe("a wall-clock time that the clock skips is due once, at the first instant after the gap", () => {
  it.each([
    [
      "Europe/Berlin",
      "30 2 * * *",
      "2026-03-28T12:00Z",
      "2026-03-30T12:00Z",
      ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
    ],
    [
      "America/New_York",
      "30 2 * * *",
      "2026-03-07T12:00Z",
      "2026-03-09T12:00Z",
      ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"],
    ],
    [
      "Australia/Lord_Howe",
      "15 2 * * *",
      "2026-10-03T00:00Z",
      "2026-10-05T00:00Z",
      ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"],
    ],
    [
      "America/Havana",
      "30 0 * * *",
      "2026-03-07T12:00Z",
      "2026-03-09T12:00Z",
      ["2026-03-08T05:00:00Z", "2026-03-09T04:30:00Z"],
    ],
    [
      "Pacific/Auckland",
      "30 2 * * *",
      "2026-09-25T18:00Z",
      "2026-09-27T18:00Z",
      ["2026-09-26T14:00:00Z", "2026-09-27T13:30:00Z"],
    ],
    [
      "Pacific/Chatham",
      "15 3 * * *",
      "2026-09-25T18:00Z",
      "2026-09-27T18:00Z",
      ["2026-09-26T14:00:00Z", "2026-09-27T13:30:00Z"],
    ],
    [
      "Pacific/Apia",
      "0 9 * * *",
      "2011-12-29T12:00Z",
      "2011-12-31T12:00Z",
      ["2011-12-29T19:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z"],
    ],
  ])("%s %s", (timezone, expression, from, until, expected) => {
    expect(between(cron(expression, timezone), from, until)).toEqual(expected);
  });

  it("once even when several times fall into the gap", () => {
    expect(between(cron("0,15,45 2 * * *", "Europe/Berlin"), "2026-03-28T12:00Z", "2026-03-29T12:00Z")).toEqual([
      "2026-03-29T01:00:00Z",
    ]);
  });

  it("once when the end of the gap is itself due", () => {
    expect(between(cron("30 2,3 * * *", "Europe/Berlin"), "2026-03-28T12:00Z", "2026-03-29T12:00Z")).toEqual([
      "2026-03-29T01:00:00Z",
      "2026-03-29T01:30:00Z",
    ]);
    expect(between(cron("0 2,3 * * *", "Europe/Berlin"), "2026-03-28T12:00Z", "2026-03-29T12:00Z")).toEqual([
      "2026-03-29T01:00:00Z",
    ]);
  });
});

describe("a wall-clock time that the clock repeats is due once, at the first", () => {
  it.each([
    [
      "Europe/Berlin",
      "30 2 * * *",
      "2026-10-24T12:00Z",
      "2026-10-26T12:00Z",
      ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
    ],
    [
      "America/New_York",
      "30 1 * * *",
      "2026-10-31T12:00Z",
      "2026-11-02T12:00Z",
      ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
    ],
    [
      "Australia/Lord_Howe",
      "45 1 * * *",
      "2026-04-03T20:00Z",
      "2026-04-05T20:00Z",
      ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"],
    ],
    [
      "America/Havana",
      "30 0 * * *",
      "2026-10-31T12:00Z",
      "2026-11-02T12:00Z",
      ["2026-11-01T04:30:00Z", "2026-11-02T05:30:00Z"],
    ],
    [
      "Pacific/Auckland",
      "30 2 * * *",
      "2026-04-03T18:00Z",
      "2026-04-05T18:00Z",
      ["2026-04-04T13:30:00Z", "2026-04-05T14:30:00Z"],
    ],
    [
      "Pacific/Chatham",
      "15 3 * * *",
      "2026-04-03T18:00Z",
      "2026-04-05T18:00Z",
      ["2026-04-04T13:30:00Z", "2026-04-05T14:30:00Z"],
    ],
  ])("%s %s", (timezone, expression, from, until, expected) => {
    expect(between(cron(expression, timezone), from, until)).toEqual(expected);
  });

  it("and not again when the search starts in the second pass", () => {
    const secondPass = Date.parse("2026-10-25T01:10Z");
    expect(nextInstant(cron("30 2 * * *", "Europe/Berlin"), secondPass, zones)).toBe(Date.parse("2026-10-26T01:30Z"));
  });
});

describe("a pattern that names every hour follows elapsed time", () => {
  it("runs in both passes of a repeated hour", () => {
    expect(between(cron("*/30 * * * *", "Europe/Berlin"), "2026-10-24T23:45Z", "2026-10-25T02:15Z")).toEqual([
      "2026-10-25T00:00:00Z",
      "2026-10-25T00:30:00Z",
      "2026-10-25T01:00:00Z",
      "2026-10-25T01:30:00Z",
      "2026-10-25T02:00:00Z",
    ]);
  });

  it("owes nothing for a skipped hour", () => {
    expect(between(cron("30 * * * *", "Europe/Berlin"), "2026-03-29T00:00Z", "2026-03-29T02:00Z")).toEqual([
      "2026-03-29T00:30:00Z",
      "2026-03-29T01:30:00Z",
    ]);
  });

  it("honours its days across a repeated midnight", () => {
    expect(between(cron("0 * * * sun", "America/Havana"), "2026-11-01T03:30Z", "2026-11-01T06:30Z")).toEqual([
      "2026-11-01T04:00:00Z",
      "2026-11-01T05:00:00Z",
      "2026-11-01T06:00:00Z",
    ]);
  });
});

describe("days", () => {
  it("match when either day field does, if both are restricted", () => {
    expect(between(cron("0 0 13 * fri", "UTC"), "2026-02-01T00:00Z", "2026-02-28T00:00Z")).toEqual([
      "2026-02-06T00:00:00Z",
      "2026-02-13T00:00:00Z",
      "2026-02-20T00:00:00Z",
      "2026-02-27T00:00:00Z",
    ]);
  });

  it("of February 29 come every fourth year, and skip 2100", () => {
    expect(between(cron("0 12 29 2 *", "UTC"), "2095-01-01T00:00Z", "2105-01-01T00:00Z")).toEqual([
      "2096-02-29T12:00:00Z",
      "2104-02-29T12:00:00Z",
    ]);
  });

  it("of an `at` rule follow the wall clock through the year", () => {
    const schedule: Schedule = { kind: "at", days: [1, 4], hour: 9, minute: 0, timezone: "Europe/Berlin" };
    expect(between(schedule, "2026-03-26T00:00Z", "2026-04-01T00:00Z")).toEqual([
      "2026-03-26T08:00:00Z",
      "2026-03-30T07:00:00Z",
    ]);
  });

  it("agree with the platform's calendar", () => {
    fc.assert(
      fc.property(fc.integer({ min: -700_000, max: 2_000_000 }), (dayNumber) => {
        const date = new Date(dayNumber * DAY);
        const day = civilDay(dayNumber);
        expect(day).toEqual({
          year: date.getUTCFullYear(),
          month: date.getUTCMonth() + 1,
          day: date.getUTCDate(),
          weekday: date.getUTCDay(),
        });
      }),
    );
  });
});

describe("elapsed time", () => {
  it("is counted from the Unix epoch, whatever the clock does", () => {
    expect(between({ kind: "every", seconds: 21_600 }, "2026-03-29T00:00Z", "2026-03-29T12:00Z")).toEqual([
      "2026-03-29T06:00:00Z",
      "2026-03-29T12:00:00Z",
    ]);
  });

  it("never answers the instant it was asked about", () => {
    expect(nextInstant({ kind: "every", seconds: 7 }, 7_000, zones)).toBe(14_000);
  });
});

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham"];

it("answers a year of 1,000 strategies in little time", () => {
  const usedMs = watchProcessorTime();
  for (let index = 0; index < 1_000; index += 1) {
    const schedule = cron(`${index % 60} ${index % 24} * * ${index % 7}`, ZONES[index % ZONES.length]!);
    instantsBetween(schedule, { afterMs: Date.parse("2026-01-01"), untilMs: Date.parse("2027-01-01") }, zones, 400);
  }
  expect(usedMs()).toBeLessThan(4_000);
});

it.each([
  [{ kind: "every", seconds: 30 }, 30],
  [cron("*/15 * * * *", "UTC"), 900],
  [cron("0 9,10 * * 1", "UTC"), 3_600],
  [cron("0 9 * * 1", "Europe/Berlin"), 7 * 86_400],
  [cron("0 9 1 * *", "UTC"), 28 * 86_400],
  [cron("0 9 29 2 *", "UTC"), 86_400],
  [{ kind: "at", days: [1, 3], hour: 9, minute: 0, timezone: "UTC" }, 2 * 86_400],
] as [Schedule, number][])("knows the shortest interval of %j", (schedule, seconds) => {
  expect(shortestIntervalSeconds(schedule)).toBe(seconds);
});
