import { expect, test } from "vitest";
import { isOfGap } from "../../src/app/gap-or-run.ts";

test.each([
  ["a run after all of them", { firstSlotMs: 10, lastSlotMs: 20 }, 30, 40, false],
  ["a run before them", { firstSlotMs: 10, lastSlotMs: 20 }, 5, 40, true],
  ["no run", { firstSlotMs: 10, lastSlotMs: 20 }, undefined, 40, true],
  ["an extra run between them, of an instant before their end", { firstSlotMs: 10, lastSlotMs: 20 }, 15, 18, false],
  ["an extra run between them, of an instant after it", { firstSlotMs: 10, lastSlotMs: 20 }, 15, 25, true],
  ["a run before them, of an instant within", { firstSlotMs: 10, lastSlotMs: 20 }, 5, 18, true],
] as const)("slots without a run and %s", (_what, gap, slotMs, atMs, expected) => {
  expect(isOfGap(gap, { run: slotMs === undefined ? undefined : { slotMs }, atMs })).toBe(expected);
});
