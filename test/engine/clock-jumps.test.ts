import { expect, test } from "vitest";
import { createBeat } from "../../src/engine/beat.ts";
import { createClockJumps } from "../../src/engine/clock-jumps.ts";
import { createOutside, openLife } from "../support/engine-life.ts";
import { silentLogger } from "../support/silent-logger.ts";

const START_MS = Date.UTC(2026, 10, 22, 9);
const DAY_MS = 86_400_000;

/** A watch on a clock that the test sets, with the rows that it wrote. */
function begin() {
  const outside = createOutside(START_MS);
  const life = openLife(outside);
  const { clock } = outside;
  const { store } = life;
  const jumps = createClockJumps({ clock, store, logger: silentLogger() });
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1_000);
      await jumps.check();
    }
  };
  const rows = (): unknown[] =>
    life.db.prepare("SELECT detail FROM daemon_events WHERE kind = 'clock-jump' ORDER BY id").pluck().all();
  return { clock, pass, rows };
}

test("a jump ahead of days is one row that says from when to when", async () => {
  const { clock, pass, rows } = begin();
  await pass(5);
  clock.jumpTo(clock.nowMs() + 10 * DAY_MS);
  await pass(120);
  expect(rows()).toEqual([
    "the wall clock went 10d ahead, from 2026-11-22T09:00:05.000Z to 2026-12-02T09:00:06.000Z (it was set, or the machine was suspended); slots follow their catch-up rule",
  ]);
});

test("a jump back of hours is one row", async () => {
  const { clock, pass, rows } = begin();
  await pass(5);
  clock.jumpTo(clock.nowMs() - 2 * 3_600_000);
  await pass(120);
  expect(rows()).toEqual([
    expect.stringMatching(/^the wall clock went 2h back, from 2026-11-22T09:00:05.000Z to 2026-11-22T07:00:06.000Z/),
  ]);
});

test("a clock that a time server slews, and a machine that is busy for a minute, are no jump", async () => {
  const { clock, pass, rows } = begin();
  for (let minute = 0; minute < 10; minute++) {
    clock.jumpTo(clock.nowMs() - 900);
    await clock.advance(60_000);
    await pass(1);
  }
  expect(rows()).toEqual([]);
});

test("a clock that is set at every second makes a row a minute, with the sum", async () => {
  const { clock, pass, rows } = begin();
  for (let second = 0; second < 150; second++) {
    clock.jumpTo(clock.nowMs() + 10_000);
    await pass(1);
  }
  expect(rows().map((row) => String(row).slice(0, 52))).toEqual([
    expect.stringMatching(/^the wall clock went 10s ahead, /),
    expect.stringMatching(/^the wall clock went 10m ahead in 60 jumps, /),
    expect.stringMatching(/^the wall clock went 10m ahead in 60 jumps, /),
  ]);
});

test("the age of the last tick goes by the monotonic clock: a clock that is set back makes nothing younger", async () => {
  const outside = createOutside(START_MS);
  const { engine } = openLife(outside);
  await engine.start();
  await engine.tick();
  outside.clock.jumpTo(START_MS - 3_600_000);
  await outside.clock.advance(4_000);
  expect(engine.tickAgeMs()).toBe(4_000);
  await engine.tick();
  expect(engine.tickAgeMs()).toBe(0);
});

test("a beat that never gets through its slots grows old, and one that does in turns is young again", async () => {
  const { clock } = createOutside(START_MS);
  let isDone = false;
  const errors: unknown[] = [];
  const guarded = (work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => void errors.push(error));
  const nothing = async (): Promise<void> => undefined;
  const slots = { take: async () => ({ hasNew: false, isDone }), adopt: nothing, settle: nothing, idle: nothing };
  const { signal } = new AbortController();
  const hooks = { first: async () => undefined, wake: () => undefined, guarded, signal };
  const beat = createBeat(clock, { slots, ...hooks });
  for (let second = 0; second < 12; second++) {
    void beat.tick();
    await clock.advance(1_000);
  }
  expect(beat.ageMs()).toBe(12_000);
  isDone = true;
  await clock.advance(1_000);
  expect([beat.ageMs() <= 1_000, errors]).toEqual([true, []]);
  slots.take = async () => {
    throw new Error("the disk is full");
  };
  await beat.tick();
  await clock.advance(5_000);
  expect(errors).toHaveLength(1);
  expect(beat.ageMs()).toBeGreaterThanOrEqual(5_000);
});

test("no run begins while slots of the same instant have no row, for five seconds at most", async () => {
  const { clock } = createOutside(START_MS);
  const nothing = async (): Promise<void> => undefined;
  let left = 3;
  const slots = {
    ...{ adopt: nothing, settle: nothing, idle: nothing },
    take: async () => {
      left -= 1;
      return {
        // The last turn may find nothing new: what waited for it is woken all the same.
        hasNew: left > 0,
        isDone: left <= 0,
      };
    },
  };
  let woken = 0;
  const wake = (): void => {
    woken += 1;
  };
  const { signal } = new AbortController();
  const beat = createBeat(clock, { slots, first: nothing, wake, guarded: (work) => work(), signal });
  expect(beat.putsSlotsFirst()).toBe(false);
  const tick = beat.tick();
  await clock.advance(0);
  expect(beat.putsSlotsFirst()).toBe(true);
  while (left > 0) await clock.advance(1);
  await tick;
  expect([beat.putsSlotsFirst(), woken]).toEqual([false, 3]);
  left = Number.POSITIVE_INFINITY;
  void beat.tick();
  await clock.advance(0);
  await clock.advance(4_900);
  expect(beat.putsSlotsFirst()).toBe(true);
  await clock.advance(200);
  expect(beat.putsSlotsFirst()).toBe(false);
  left = 1;
  await clock.advance(1);
});
