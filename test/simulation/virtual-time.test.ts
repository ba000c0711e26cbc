import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createMachine } from "./daemon/machine.ts";
import { VirtualTime } from "./virtual-time.ts";

test("a world that has ended is kept by nobody who slept in it, or a campaign runs out of memory", async () => {
  const time = new VirtualTime(0);
  const network = { fetch: () => Promise.reject(new Error("offline")), asked: () => 0, forgetLimit: () => undefined };
  const outside = { offsetMs: () => 0, random: () => 0, tickEveryMs: 1_000, isDead: () => false, at: () => undefined };
  const { clock } = createMachine({ time, network, ...outside });
  const signal = AbortSignal.any([new AbortController().signal]);
  let woke = 0;
  for (const durationMs of [1_000, 3_600_000]) void clock.sleep(durationMs, signal).then(() => woke++);
  await time.runUntil(2_000, () => true);
  expect([woke, getEventListeners(signal, "abort").length]).toEqual([1, 1]);
  time.end();
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await time.runUntil(7_200_000, () => true);
  expect(woke).toBe(1);
});
