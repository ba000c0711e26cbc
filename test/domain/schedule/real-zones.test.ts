import { describe, expect, it } from "vitest";
import { instantsBetween } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";
import { wallAt } from "../../../src/domain/schedule/wall-clock.ts";
import { clockChanges, DAY_MS, readingOf, ZONES, zones } from "./zone-data.ts";

/** The rules on the platform's own zone data, at every change of every clock from 2020 to 2040. */

const changes = clockChanges();
const gaps = changes.filter(({ before, after }) => after > before);
const overlaps = changes.filter(({ before, after }) => after < before);

function daily(wallMs: number, timezone: string): Schedule {
  const { hour, minute } = readingOf(wallMs);
  return { kind: "cron", expression: `${minute} ${hour} * * *`, timezone };
}

/** Instants from noon before a change to noon after it. */
function around(schedule: Schedule, atMs: number): number[] {
  return instantsBetween(schedule, { afterMs: atMs - DAY_MS / 2, untilMs: atMs + DAY_MS / 2 }, zones, 100);
}

it("there are hundreds of both", () => {
  expect(new Set(changes.map(({ timezone }) => timezone)).size).toBeGreaterThanOrEqual(10);
  expect(gaps.length).toBeGreaterThan(200);
  expect(overlaps.length).toBeGreaterThan(200);
});

it("SCH-4 every minute of every gap is due once, at the first instant after the gap", () => {
  for (const { timezone, atMs, before, after } of gaps) {
    for (let minute = 0; minute < after - before; minute += 1) {
      const wallMs = atMs + (before + minute) * 60_000;
      expect([timezone, ...around(daily(wallMs, timezone), atMs)]).toEqual([timezone, atMs]);
    }
  }
});

it("SCH-4 several times of one gap are due once together", () => {
  for (const { timezone, atMs, before } of gaps) {
    const { hour, minute } = readingOf(atMs + before * 60_000);
    const expression = `${minute},${minute + 7},${minute + 14} ${hour} * * *`;
    expect(around({ kind: "cron", expression, timezone }, atMs)).toEqual([atMs]);
  }
});

it("SCH-5 every minute of every overlap is due once, at the first of its two instants", () => {
  for (const { timezone, atMs, before, after } of overlaps) {
    for (let minute = 0; minute < before - after; minute += 1) {
      const wallMs = atMs + (after + minute) * 60_000;
      const firstMs = wallMs - before * 60_000;
      expect([timezone, ...around(daily(wallMs, timezone), atMs)]).toEqual([timezone, firstMs]);
    }
  }
});

it("SCH-6 a pattern that names every hour runs in both passes, and owes nothing for a gap", () => {
  for (const { timezone, atMs } of changes) {
    const found = around({ kind: "cron", expression: "*/30 * * * *", timezone }, atMs);
    expect(found).toHaveLength(48);
    for (const instantMs of found) expect(wallAt(instantMs, timezone, zones) % 1_800_000).toBe(0);
  }
});

it("SCH-2 elapsed time keeps its distance over every change of every clock", () => {
  for (const { atMs } of changes) {
    const found = around({ kind: "every", seconds: 7_200 }, atMs);
    expect(found).toHaveLength(12);
    expect(found.every((instantMs) => instantMs % 7_200_000 === 0)).toBe(true);
  }
});

const YEARS = { afterMs: Date.parse("2019-12-30"), untilMs: Date.parse("2041-01-03") };

describe.each(ZONES)("in %s", (timezone) => {
  const walls = (schedule: Schedule): string[] =>
    instantsBetween(schedule, YEARS, zones, 10_000)
      .map((instantMs) => new Date(wallAt(instantMs, timezone, zones)).toISOString().slice(0, 16))
      .filter((wall) => wall >= "2020" && wall < "2041");

  it("SCH-3 a time of day comes on every day of twenty-one years, once", () => {
    const days = walls({ kind: "at", days: [0, 1, 2, 3, 4, 5, 6], hour: 2, minute: 30, timezone }).map((wall) =>
      wall.slice(0, 10),
    );
    expect(days).toHaveLength(7_671);
    expect(new Set(days).size).toBe(7_671);
  });

  it("SCH-7 the 31st and the last day are the last of each month, and the 30th of February too", () => {
    const at = { kind: "at", days: [], hour: 9, minute: 0, timezone } as const;
    const expected = Array.from({ length: 21 * 12 }, (_none, index) => {
      const last = new Date(Date.UTC(2020 + Math.floor(index / 12), (index % 12) + 1, 0));
      return `${last.toISOString().slice(0, 10)}T09:00`;
    });
    const every: Schedule = { ...at, days: [0, 1, 2, 3, 4, 5, 6], monthDays: [31] };
    expect(walls(every)).toEqual(expected);
    const thirtieth = walls({ ...every, monthDays: [30] });
    expect(thirtieth).toHaveLength(252);
    expect(thirtieth.filter((wall) => wall.slice(5, 7) === "02").map((wall) => wall.slice(8, 10))).toEqual(
      expected.filter((wall) => wall.slice(5, 7) === "02").map((wall) => wall.slice(8, 10)),
    );
    expect(thirtieth.filter((wall) => wall.slice(5, 7) !== "02").every((wall) => wall.slice(8, 10) === "30")).toBe(
      true,
    );
  });

  it("SCH-8 cron leaves out a day that a month does not have: February 29 comes in leap years only", () => {
    const leapDays = walls({ kind: "cron", expression: "0 12 29 2 *", timezone });
    expect(leapDays).toEqual([2020, 2024, 2028, 2032, 2036, 2040].map((year) => `${year}-02-29T12:00`));
    expect(walls({ kind: "cron", expression: "0 12 31 * *", timezone })).toHaveLength(21 * 7);
  });
});
