import { expect, test } from "vitest";
import { tipOf } from "../../../src/domain/money/tip.ts";

test.each([
  ["slow", undefined, 3n, 2n],
  ["slow", undefined, 1n, 1n],
  ["normal", undefined, 3n, 3n],
  ["fast", undefined, 3n, 6n],
  ["fast", 4n, 3n, 4n],
  ["normal", 0n, 3n, 0n],
  ["slow", 4n, 3n, 2n],
] as const)(
  "a tip is a share of what nodes suggest, and never above its most: %s, at most %s, of %s",
  (urgency, most, suggested, tip) => {
    expect(tipOf({ urgency, maxPriorityFee: most }, suggested)).toBe(tip);
  },
);
