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

test("a call that finds nobody asleep is remembered: the next sleep takes no time, the one after it all of its own", async () => {
  const clock = new FakeClock(0);
  const waker = createWaker(clock);
  const { signal } = new AbortController();
  waker.wake();
  waker.wake();
  let sleeps = 0;
  void (async () => {
    for (; sleeps < 2; sleeps += 1) await waker.wait(1_000, signal);
  })();
  const seen: number[] = [];
  for (const afterMs of [0, 999, 1]) {
    await quiet();
    seen.push(sleeps);
    await clock.advance(afterMs);
  }
  expect([...seen, sleeps]).toEqual([0, 1, 1, 2]);
});

test("two calls of one moment end one sleep and no other", async () => {
  const { waker, clock, stop, done } = sleeping(1_000_000);
  waker.wake();
  waker.wake();
  await done;
  let isAwake = false;
  void waker.wait(1_000, stop.signal).then(() => {
    isAwake = true;
  });
  await clock.advance(999);
  expect(isAwake).toBe(false);
});
