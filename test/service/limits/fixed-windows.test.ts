import { describe, expect, test } from "vitest";
import { createFixedWindows } from "../../../src/service/limits/fixed-windows.ts";
import { createHandClock } from "../support/hand-clock.ts";

describe("a fixed window", () => {
  test("begins with the UTC second, not with the first request", () => {
    const clock = createHandClock(10_999);
    const take = createFixedWindows(clock);
    expect(take("a", 2)).toEqual({ allowed: true, limit: 2, remaining: 1 });
    expect(take("a", 2)).toEqual({ allowed: true, limit: 2, remaining: 0 });
    expect(take("a", 2)).toEqual({ allowed: false, limit: 2, remaining: 0 });
    clock.set(11_000);
    expect(take("a", 2)).toEqual({ allowed: true, limit: 2, remaining: 1 });
  });

  test("reports only so many callers apart, and lets those that it knows go on", () => {
    const clock = createHandClock(0);
    const take = createFixedWindows(clock, 2);
    expect([take("a", 5), take("b", 5), take("c", 5)].map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(take("a", 5)).toEqual({ allowed: true, limit: 5, remaining: 3 });
    clock.set(1_000);
    expect(take("c", 5).allowed).toBe(true);
  });

  test("does not count what it refuses, and counts each caller alone", () => {
    const clock = createHandClock(0);
    const take = createFixedWindows(clock);
    for (let request = 0; request < 10; request += 1) take("a", 3);
    expect(take("b", 3).remaining).toBe(2);
    clock.set(1_000);
    expect(take("a", 3).remaining).toBe(2);
  });
});
