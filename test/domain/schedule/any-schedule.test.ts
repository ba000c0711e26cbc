import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import { instantsBetween, nextInstant } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";

const zones = createIntlZones();
const DAY = 86_400_000;
const ALL_DAYS = [0, 1, 2, 3, 4, 5, 6];

function _cron(expression: string, timezone: string): Schedule {
  return { kind: "cron", expression, timezone };
}

function iso(instants: readonly number[]): string[] {
  return instants.map((instantMs) => new Date(instantMs).toISOString().replace(".000Z", "Z"));
}

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "America/Havana",
  "Pacific/Auckland",
  "Pacific/Chatham",
  "Asia/Kathmandu",
  "Africa/Casablanca",
  "America/St_Johns",
];

const anySchedule = fc.oneof(
  fc.record({
    kind: fc.constant("at" as const),
    days: fc.uniqueArray(fc.constantFrom(...ALL_DAYS), { minLength: 1 }),
    hour: fc.integer({ min: 0, max: 23 }),
    minute: fc.integer({ min: 0, max: 59 }),
    timezone: fc.constantFrom(...ZONES),
  }),
  fc.record({
    kind: fc.constant("cron" as const),
    expression: fc
      .tuple(
        fc.constantFrom("*", "*/7", "0", "59", "0,30", "15-45/10"),
        fc.constantFrom("*", "*/2", "0-4", "2", "1,2,3", "23"),
        fc.constantFrom("*", "1", "29-31", "*/5"),
        fc.constantFrom("*", "3,10", "feb-apr"),
        fc.constantFrom("*", "0", "mon-fri"),
      )
      .map((fields) => fields.join(" ")),
    timezone: fc.constantFrom(...ZONES),
  }),
  fc.record({ kind: fc.constant("every" as const), seconds: fc.integer({ min: 1, max: 10_000_000 }) }),
);
const anyInstant = fc.integer({ min: Date.parse("2015-01-01"), max: Date.parse("2035-01-01") });

describe("for any schedule, zone and instant", () => {
  it("the next instant is a whole second, strictly later, and the same from any point before it", () => {
    fc.assert(
      fc.property(anySchedule, anyInstant, fc.double({ min: 0, max: 1, noNaN: true }), (schedule, afterMs, share) => {
        const next = nextInstant(schedule, afterMs, zones);
        if (next === undefined) throw new Error("every schedule here has a next instant");
        expect(next).toBeGreaterThan(afterMs);
        expect(next % 1_000).toBe(0);
        const between = afterMs + Math.floor((next - 1 - afterMs) * share);
        expect(nextInstant(schedule, between, zones)).toBe(next);
      }),
      { numRuns: 400 },
    );
  });

  it("agrees with a walk through every minute and its wall clock", () => {
    fc.assert(
      fc.property(anySchedule, fc.constantFrom(...transitionDays()), (schedule, startMs) => {
        if (schedule.kind === "every") return;
        const range = { afterMs: startMs - 1, untilMs: startMs + 3 * DAY };
        expect(iso(instantsBetween(schedule, range, zones, 10_000))).toEqual(iso(walk(schedule, range)));
      }),
      { numRuns: 150 },
    );
  });
});

function transitionDays(): number[] {
  return [
    "2026-03-28",
    "2026-10-24",
    "2026-03-07",
    "2026-10-31",
    "2026-10-03",
    "2026-04-04",
    "2026-09-26",
    "2026-02-14",
    "2026-03-21",
    "2024-02-28",
  ].map((day) => Date.parse(day));
}

/** An oracle of its own: reads the wall clock with Intl at every minute, and applies the written rule. */
function walk(schedule: Exclude<Schedule, { kind: "every" }>, range: { afterMs: number; untilMs: number }): number[] {
  const offset = (at: number): number => zones.offsetMinutes(schedule.timezone, at) * 60_000;
  const matches = (wallMs: number): boolean => {
    const wall = new Date(wallMs);
    if (schedule.kind === "at") {
      return (
        schedule.days.includes(wall.getUTCDay()) &&
        wall.getUTCHours() === schedule.hour &&
        wall.getUTCMinutes() === schedule.minute
      );
    }
    const [minute, hour, day, month, weekday] = schedule.expression.split(" ") as [
      string,
      string,
      string,
      string,
      string,
    ];
    const dom = field(day, wall.getUTCDate(), 1);
    const dow = field(weekday, wall.getUTCDay(), 0);
    const either = day !== "*" && weekday !== "*";
    return (
      field(minute, wall.getUTCMinutes(), 0) &&
      field(hour, wall.getUTCHours(), 0) &&
      field(month, wall.getUTCMonth() + 1, 1) &&
      (either ? dom || dow : dom && dow)
    );
  };
  const elapsed = schedule.kind === "cron" && schedule.expression.split(" ")[1] === "*";
  const found: number[] = [];
  const seen = new Set<number>();
  for (let at = range.afterMs + 1 - 2 * DAY; at <= range.untilMs; at += 60_000) {
    const wallMs = at + offset(at);
    const before = at - 60_000 + offset(at - 60_000);
    let due = matches(wallMs) && (elapsed || !seen.has(wallMs));
    if (!elapsed) {
      for (let skipped = before + 60_000; skipped < wallMs; skipped += 60_000) due ||= matches(skipped);
    }
    seen.add(wallMs);
    if (due && at > range.afterMs) found.push(at);
  }
  return found;
}

function field(text: string, value: number, low: number): boolean {
  const names: Record<string, number> = { feb: 2, apr: 4, mon: 1, fri: 5 };
  return text.split(",").some((item) => {
    const [body = "", step = "1"] = item.split("/");
    const [from, to] =
      body === "*" ? [low, 99] : (body.split("-").map((part) => names[part] ?? Number(part)) as [number, number?]);
    return value >= from && value <= (to ?? from) && (value - from) % Number(step) === 0;
  });
}
