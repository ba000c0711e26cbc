import { expect, test } from "vitest";
import { createWaker } from "../../src/engine/waker.ts";
import { FakeClock, quiet } from "../support/fake-clock.ts";

function sleeping(durationMs: number) {
  const clock = new FakeClock(0);
  const waker = createWaker(clock);
  const stop = new AbortController();
  const sleeper = { isAwake: false };
  const start = async (): Promise<void> => {
    await waker.wait(durationMs, stop.signal);
    sleeper.isAwake = true;
  };
  const done = start();
  return { clock, waker, stop, sleeper, done };
}

test("a sleeper wakes when its time is over, and not before", async () => {
  const { clock, sleeper } = sleeping(1_000);
  await clock.advance(999);
  expect(sleeper.isAwake).toBe(false);
  await clock.advance(1);
  expect(sleeper.isAwake).toBe(true);
});

test("a sleeper wakes when somebody has something for it", async () => {
  const { waker, sleeper, done } = sleeping(1_000_000);
  waker.wake();
  await done;
  expect(sleeper.isAwake).toBe(true);
});

test("a sleeper wakes when it is to stop, and does not fall asleep again", async () => {
  const { waker, stop, done, clock } = sleeping(1_000_000);
  stop.abort();
  await done;
  await waker.wait(1_000_000, stop.signal);
  expect(clock.nowMs()).toBe(0);
});

test("who begins to sleep after a call is not woken by it", async () => {
  const clock = new FakeClock(0);
  const waker = createWaker(clock);
  waker.wake();
  let isAwake = false;
  void waker.wait(1_000, new AbortController().signal).then(() => {
    isAwake = true;
  });
  await quiet();
  expect(isAwake).toBe(false);
});

test("who was called since it counted sleeps no time at all, so that everything else has its turn", async () => {
  const clock = new FakeClock(0);
  const waker = createWaker(clock);
  const since = waker.wakes();
  waker.wake();
  let isAwake = false;
  void waker.wait(1_000, new AbortController().signal, since).then(() => {
    isAwake = true;
  });
  await quiet();
  const wasAwake = isAwake;
  await clock.advance(0);
  expect([wasAwake, isAwake]).toEqual([false, true]);
});
