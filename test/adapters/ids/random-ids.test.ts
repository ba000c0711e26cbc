import { expect, test } from "vitest";
import { createRandomIds } from "../../../src/adapters/ids/random-ids.ts";

test("ids sort by creation, also inside a millisecond and after the clock jumped back", () => {
  const times = [5_000, 5_000, 5_000, 6_000, 1_000, 1_000, 7_000];
  let index = 0;
  const ids = createRandomIds(() => times[index++] ?? 0);
  const made = times.map(() => ids.newId("run"));
  expect([...made].sort()).toEqual(made);
  expect(made[0]).toMatch(/^run_[0-9a-z]{24}$/);
});

test("two processes that start in the same millisecond do not collide, however many ids they make", () => {
  const [a, b] = [createRandomIds(() => 1), createRandomIds(() => 1)];
  const made = new Set<string>();
  for (let i = 0; i < 50_000; i++) made.add(a.newId("x")).add(b.newId("x"));
  expect(made.size).toBe(100_000);
});

test("random numbers fill 256 bits", () => {
  const ids = createRandomIds(() => 1);
  const all = Array.from({ length: 64 }, () => ids.randomUint256()).reduce((bits, number) => bits | number, 0n);
  expect(all).toBe((1n << 256n) - 1n);
});
