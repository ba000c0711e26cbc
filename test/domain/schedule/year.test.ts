import { expect, test } from "vitest";
import { DEFAULT_CATCH_UP } from "../../../src/domain/schedule/catch-up.ts";
import { instantsBetween, nextInstant } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";
import { type SlotOwner, startOfSlot } from "../../../src/domain/schedule/slot-jitter.ts";
import { planSlots, type SlotGap, type SlotMoment } from "../../../src/domain/schedule/slots.ts";
import { DAY_MS, ZONES, zones } from "./zone-data.ts";

/** A year of 1,000 strategies on a virtual clock, with downtime, a clock that jumps, pauses and runs that stay open. */

const HOUR_MS = 3_600_000;
const START_MS = Date.parse("2026-01-01T00:00:00Z");
const END_MS = Date.parse("2027-01-01T00:00:00Z");
const POLICIES = ["latest", "skip", "accumulate", "all"] as const;

/** Half of them are daily, by the wall clocks of sixteen zones; the others come every six hours. */
function strategies(): readonly SlotOwner[] {
  return Array.from({ length: 1_000 }, (_none, index) => {
    const timezone = ZONES[index % ZONES.length] as string;
    const time = { hour: Math.floor(index / 2) % 24, minute: (index % 3) * 15 };
    const daily = { kind: "at", days: [0, 1, 2, 3, 4, 5, 6], ...time, timezone } as const;
    const policy = POLICIES[Math.floor(index / 2) % 4] as (typeof POLICIES)[number];
    // Nobody looks often enough for delayed slots that must not be late.
    const jitterSeconds = index % 7 === 0 && policy !== "skip" ? 900 : undefined;
    const schedule: Schedule =
      index % 2 === 0 ? { ...daily, jitterSeconds } : { kind: "every", seconds: 21_600, jitterSeconds };
    const windowSeconds = policy === "accumulate" || policy === "all" ? 2 * 86_400 : undefined;
    return { id: `strategy-${index}`, schedule, catchUp: { ...DEFAULT_CATCH_UP, policy, windowSeconds } };
  });
}

/** What the clock shows when somebody looks at it, every quarter of an hour, and what day it really is. */
function* checks(): Generator<{ nowMs: number; day: number }> {
  for (let atMs = START_MS; atMs <= END_MS; atMs += HOUR_MS / 4) {
    const day = Math.floor((atMs - START_MS) / DAY_MS);
    const isDown = (day >= 40 && day < 47) || (day === 300 && atMs % DAY_MS < 9 * HOUR_MS);
    if (isDown) continue;
    const isNoon = atMs % DAY_MS === 12 * HOUR_MS;
    const jumps = isNoon && day === 100 ? [-3, -2, -1] : isNoon && day === 200 ? [48, 1] : [];
    for (const hours of jumps) yield { nowMs: atMs + hours * HOUR_MS, day };
    yield { nowMs: atMs + 300, day };
  }
}

/** One strategy's rows, written as the store writes them: unique runs, and gaps that join the one before. */
class Rows {
  handledMs = START_MS;
  nextStartMs = 0;
  readonly runs: number[] = [];
  readonly gaps: SlotGap[] = [];

  add(gap: SlotGap, joinsAtMs: number): void {
    const last = this.gaps.at(-1);
    if (last === undefined || last.reason !== gap.reason || last.lastMs !== joinsAtMs) this.gaps.push(gap);
    else this.gaps[this.gaps.length - 1] = { ...last, lastMs: gap.lastMs, count: last.count + gap.count };
  }

  check(strategy: SlotOwner, moment: Omit<SlotMoment, "handledMs">): void {
    if (moment.nowMs < this.nextStartMs) return;
    const plan = planSlots(strategy, { ...moment, handledMs: this.handledMs }, zones);
    let joinsAtMs = this.handledMs;
    for (const gap of plan.gaps) {
      this.add(gap, joinsAtMs);
      joinsAtMs = gap.lastMs;
    }
    if (plan.run !== undefined) this.runs.push(plan.run.slotMs);
    this.handledMs = plan.handledMs;
    const nextMs = nextInstant(strategy.schedule, this.handledMs, zones);
    this.nextStartMs = nextMs === undefined ? Number.POSITIVE_INFINITY : startOfSlot(strategy, nextMs, zones);
  }
}

test("SCH-23 a year of 1,000 strategies passes within 20 seconds: each slot has exactly one end, and no flood of rows", () => {
  const all = strategies().map((strategy) => ({ strategy, rows: new Rows() }));
  const started = process.threadCpuUsage();
  let pausedUntilMs = 0;
  for (const { nowMs, day } of checks()) {
    if (day === 120 && pausedUntilMs === 0) pausedUntilMs = nowMs;
    for (const [index, { strategy, rows }] of all.entries()) {
      const isPaused = index % 50 === 5 && day >= 60 && day < 120;
      const isBusy = index % 50 === 7 && day >= 130 && day < 133;
      const barredUntilMs = index % 50 === 5 ? pausedUntilMs : 0;
      const barred = isPaused ? "paused" : undefined;
      rows.check(strategy, { nowMs, barred, barredUntilMs, haltedUntilMs: 0, isBusy, ended: [] });
    }
  }
  // The work of this thread: on a busy machine the wall clock reports others.
  const { user, system } = process.threadCpuUsage(started);
  const reasons = new Map<string, number>();
  let slots = 0;
  for (const { strategy, rows } of all) {
    const due = instantsBetween(strategy.schedule, { afterMs: START_MS, untilMs: rows.handledMs }, zones, 10_000);
    const inGaps = rows.gaps.map(({ firstMs, lastMs }) => due.filter((at) => firstMs <= at && at <= lastMs));
    expect(rows.gaps.map(({ count }) => count)).toEqual(inGaps.map((list) => list.length));
    expect([...rows.runs, ...inGaps.flat()].sort((a, b) => a - b)).toEqual(due);
    expect(rows.gaps.length).toBeLessThanOrEqual(12);
    for (const { reason, count } of rows.gaps) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    slots += due.length;
  }
  expect(slots).toBeGreaterThan(910_000);
  expect([...reasons.keys()].sort()).toEqual(["accumulated", "missed", "overlap", "paused"]);
  expect((user + system) / 1_000).toBeLessThan(20_000);
}, 60_000);
