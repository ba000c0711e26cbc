import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import { CALENDAR_PERIODS, calendarPeriod } from "../../../src/domain/schedule/calendar-period.ts";

const zones = createIntlZones();
const DAY_MS = 86_400_000;

/** With and without summer time, north and south, with offsets of half and quarter hours, and changes at midnight. */
const ZONES = [
  ...[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",
    "America/Havana",
    "Asia/Kolkata",
    "Asia/Kathmandu",
  ],
  ...["Australia/Lord_Howe", "Pacific/Chatham", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia"],
];

function span(period: (typeof CALENDAR_PERIODS)[number], timezone: string, at: string) {
  const { sinceMs, renewsMs, renewsOn } = calendarPeriod(period, { atMs: Date.parse(at), timezone }, zones);
  return [new Date(sinceMs).toISOString(), new Date(renewsMs).toISOString(), renewsOn];
}

describe("a period of the calendar", () => {
  it("BUD-2 begins at midnight of its zone, a week on Monday, a month on its first day", () => {
    const berlin = "Europe/Berlin";
    const at = "2026-11-25T20:00:00Z";
    expect(span("day", berlin, at)).toEqual(["2026-11-24T23:00:00.000Z", "2026-11-25T23:00:00.000Z", "2026-11-26"]);
    expect(span("week", berlin, at)).toEqual(["2026-11-22T23:00:00.000Z", "2026-11-29T23:00:00.000Z", "2026-11-30"]);
    expect(span("month", berlin, at)).toEqual(["2026-10-31T23:00:00.000Z", "2026-11-30T23:00:00.000Z", "2026-12-01"]);
    expect(span("week", "UTC", "2026-11-29T23:59:59Z")[2]).toBe("2026-11-30");
    expect(span("week", "UTC", "2026-11-30T00:00:00Z")[2]).toBe("2026-12-07");
    expect(span("month", "UTC", "2026-12-31T23:00:00Z")[2]).toBe("2027-01-01");
    expect(span("month", "UTC", "2028-02-29T12:00:00Z")).toEqual([
      ...["2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z", "2028-03-01"],
    ]);
  });

  it("BUD-2 is an hour shorter or longer where the clock changes, and begins after a midnight that is skipped", () => {
    expect(span("day", "Europe/Berlin", "2026-03-29T12:00:00Z")).toEqual([
      ...["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z", "2026-03-30"],
    ]);
    expect(span("day", "Europe/Berlin", "2026-10-25T12:00:00Z")).toEqual([
      ...["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z", "2026-10-26"],
    ]);
    // Chile's clock goes from 00:00 to 01:00: the day begins at the first instant after that.
    expect(span("day", "America/Santiago", "2026-09-06T15:00:00Z")[0]).toBe("2026-09-06T04:00:00.000Z");
    // Cuba's clock goes from 01:00 back to 00:00: the day begins at the first of the two.
    expect(span("day", "America/Havana", "2026-11-01T15:00:00Z")[0]).toBe("2026-11-01T04:00:00.000Z");
  });

  it("BUD-2 has a next one that begins where it ends, in zones of every kind, at any instant", () => {
    const zone = fc.constantFrom(...ZONES);
    const instant = fc.integer({ min: Date.parse("2024-01-01") / 1_000, max: Date.parse("2038-01-01") / 1_000 });
    fc.assert(
      fc.property(fc.constantFrom(...CALENDAR_PERIODS), zone, instant, (period, timezone, seconds) => {
        const atMs = seconds * 1_000;
        const now = calendarPeriod(period, { atMs, timezone }, zones);
        expect(now.sinceMs).toBeLessThanOrEqual(atMs);
        expect(now.renewsMs).toBeGreaterThan(atMs);
        const next = calendarPeriod(period, { atMs: now.renewsMs, timezone }, zones);
        expect(next.sinceMs).toBe(now.renewsMs);
        const last = calendarPeriod(period, { atMs: now.renewsMs - 1, timezone }, zones);
        expect(last.sinceMs).toBe(now.sinceMs);
        // Each begins a quarter of an hour, which what was sold is counted by.
        expect(now.sinceMs % (15 * 60_000)).toBe(0);
        expect(now.renewsMs - now.sinceMs).toBeLessThanOrEqual(31 * DAY_MS + 7_200_000);
      }),
      { numRuns: 300 },
    );
  });
});
