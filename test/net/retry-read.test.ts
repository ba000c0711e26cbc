import { expect, test } from "vitest";
import { retryRead } from "../../src/net/retry-read.ts";

const quick = { minDelayMs: 1, maxDelayMs: 2 };

test("a read is repeated until it succeeds, and no more often than allowed", async () => {
  let calls = 0;
  const read = async () => {
    calls++;
    if (calls < 3) throw new Error(`failure ${calls}`);
    return "answer";
  };
  const retried: number[] = [];
  expect(await retryRead(read, { retries: 5, ...quick, onRetry: (_, attempt) => retried.push(attempt) })).toBe(
    "answer",
  );
  expect(retried).toEqual([1, 2]);
  calls = -100;
  await expect(retryRead(read, { retries: 2, ...quick })).rejects.toThrow("failure -97");
  expect(calls).toBe(-97);
});

test("a failure that cannot pass is not repeated, whatever its type", async () => {
  let calls = 0;
  const read = async () => {
    calls++;
    throw new TypeError("wrong chain");
  };
  await expect(retryRead(read, { retries: 5, ...quick, isTransient: () => false })).rejects.toThrow("wrong chain");
  expect(calls).toBe(1);
});

test("an abort ends the waiting", async () => {
  const controller = new AbortController();
  const slow = { retries: 5, minDelayMs: 60_000, maxDelayMs: 60_000, signal: controller.signal };
  const pending = retryRead(async () => Promise.reject(new Error("down")), slow);
  setTimeout(() => controller.abort(new Error("stopping")), 20);
  await expect(pending).rejects.toThrow("stopping");
});

test("pauses pass on the caller's clock, growing up to the bound, with the caller's jitter", async () => {
  const slept: number[] = [];
  const pauses = { sleep: async (durationMs: number) => void slept.push(durationMs), random: () => 0.5 };
  const read = async () => Promise.reject(new Error("down"));
  const startedMs = performance.now();
  await expect(retryRead(read, { retries: 4, minDelayMs: 60_000, maxDelayMs: 300_000, pauses })).rejects.toThrow(
    "down",
  );
  expect(slept).toEqual([90_000, 180_000, 300_000, 300_000]);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});
