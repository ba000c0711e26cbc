import { expect, test } from "vitest";
import type { UsdPrice } from "../../../src/domain/money/price.ts";
import { againstReference, median } from "../../../src/domain/paper/fill-quality.ts";

const dollar = 10n ** 18n;
const usd = (dollars: bigint): UsdPrice => (dollars * dollar) as UsdPrice;

test("a fill that brings a thousandth less than its reference is a thousandth below it", () => {
  const sold = { raw: 100n * 10n ** 6n, decimals: 6, usd: usd(1n) };
  const bought = { raw: 999n * 10n ** 14n, decimals: 18, usd: usd(1_000n) };
  expect(againstReference({ sold, bought })).toBe(-1_000n);
  expect(againstReference({ sold: { ...sold, raw: 0n }, bought })).toBeUndefined();
});

test("the median is the middle one, or the mean of the two in the middle", () => {
  expect(median([])).toBeUndefined();
  expect(median([7n])).toBe(7n);
  expect(median([30n, -10n, 10n])).toBe(10n);
  expect(median([-40n, 10n, 30n, 100n])).toBe(20n);
});
