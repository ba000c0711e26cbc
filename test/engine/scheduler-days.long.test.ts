import { expect, test } from "vitest";
import { createIntlZones } from "../../src/adapters/zones/intl-zones.ts";
import { DEFAULT_CATCH_UP } from "../../src/domain/schedule/catch-up.ts";
import { instantsBetween } from "../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../src/domain/schedule/schedule.ts";
import type { EngineContext, LoadedStrategy } from "../../src/engine/engine-context.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertDueRuns } from "../../src/engine/scheduler.ts";
import { dcaSpec } from "../support/builders.ts";
import { skipOpenRuns } from "../support/daemon-database.ts";
import { createOutside, type Life, openLife } from "../support/engine-life.ts";

/** Days of 1,000 strategies in a real database: daily and six-hourly, over a change of the clock, with a week of downtime. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.parse("2026-03-20T00:07:00Z");
const POLICIES = ["latest", "skip", "accumulate", "latest"] as const;

function strategies(): readonly LoadedStrategy[] {
  return Array.from({ length: 1_000 }, (_none, index) => {
    const timezone = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"][index % 3] as string;
    const daily = { kind: "at", days: [0, 1, 2, 3, 4, 5, 6], hour: index % 24, minute: 0, timezone } as const;
    const schedule: Schedule = index % 2 === 1 ? { kind: "every", seconds: 21_600 } : daily;
    const policy = POLICIES[Math.floor(index / 2) % 4] as (typeof POLICIES)[number];
    const catchUp = { ...DEFAULT_CATCH_UP, policy, windowSeconds: policy === "accumulate" ? 259_200 : undefined };
    return { spec: dcaSpec({ id: `strategy-${index}`, schedule, catchUp }), specHash: "spec" };
  });
}

function context(life: Life, loaded: readonly LoadedStrategy[]): EngineContext {
  return { ...life.context, settings: { ...life.context.settings, strategies: loaded } };
}

test("SCH-23 days of 1,000 strategies leave one end for each slot in the database, and few rows for many equal ends", async () => {
  const outside = createOutside(START_MS);
  const life = openLife(outside);
  let loaded = strategies();
  await registerStrategies(context(life, loaded));
  for (let hour = 0; hour < 21 * 24; hour += 1) {
    const day = Math.floor(hour / 24);
    if (day >= 10 && day < 17) continue;
    // A fresh start of the process: it knows nothing but the database.
    if (hour === 17 * 24) loaded = strategies();
    outside.clock.jumpTo(START_MS + hour * HOUR_MS);
    await insertDueRuns(context(life, loaded));
    if (day !== 4) skipOpenRuns(life.store);
  }
  const ends = life.db.prepare<[string, string], { first: number; last: number; count: number }>(
    `SELECT first_slot_ms AS first, last_slot_ms AS last, count FROM gaps WHERE strategy = ?
     UNION ALL SELECT slot_ms, slot_ms, 1 FROM runs WHERE strategy = ? ORDER BY 1`,
  );
  const zones = createIntlZones();
  for (const { spec } of loaded) {
    const untilMs = life.store.lastSlots([spec.id]).get(spec.id) ?? START_MS;
    const due = instantsBetween(spec.schedule, { afterMs: START_MS, untilMs }, zones, 1_000);
    const covered = ends.all(spec.id, spec.id).map((end) => ({
      count: end.count,
      slots: due.filter((slotMs) => end.first <= slotMs && slotMs <= end.last),
    }));
    expect(covered.flatMap(({ slots }) => slots)).toEqual(due);
    expect(covered.map(({ count }) => count)).toEqual(covered.map(({ slots }) => slots.length));
    expect(untilMs).toBeGreaterThan(START_MS + 19 * DAY_MS);
  }
  const gaps = life.db.prepare("SELECT count(*) AS rows, sum(count) AS slots FROM gaps").get() as Record<
    string,
    number
  >;
  expect(gaps.slots).toBeGreaterThan(15_000);
  expect(gaps.rows).toBeLessThan(6_000);
}, 60_000);
