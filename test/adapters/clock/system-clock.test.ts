import { expect, test } from "vitest";
import { sleepInPieces, systemClock } from "../../../src/adapters/clock/system-clock.ts";

test("a sleep longer than one timer can hold does not end at once", async () => {
  const controller = new AbortController();
  let ended = false;
  const sleeping = systemClock.sleep(2 ** 40, controller.signal).then(() => {
    ended = true;
  });
  await systemClock.sleep(30);
  expect(ended).toBe(false);
  controller.abort();
  await sleeping;
});

test("pieces add up to the whole duration", async () => {
  const start = systemClock.monotonicMs();
  await sleepInPieces(60, 7);
  expect(systemClock.monotonicMs() - start).toBeGreaterThanOrEqual(59);
});

test("NaN is refused instead of looping without a pause, and a past instant is no wait", async () => {
  await expect(systemClock.sleep(Number.NaN)).rejects.toThrow(RangeError);
  await systemClock.sleep(-5);
  await systemClock.sleep(Number.POSITIVE_INFINITY, AbortSignal.abort());
});

test("a sleep of no time lets timers and answers have their turn", async () => {
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 1);
  const endsAtMs = systemClock.monotonicMs() + 500;
  while (!isOver && systemClock.monotonicMs() < endsAtMs) await systemClock.sleep(0);
  expect(isOver).toBe(true);
});
