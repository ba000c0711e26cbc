import { expect, test } from "vitest";
import { allPairs, rarePairs } from "./pairs.ts";

const [first = "", second = "", ...others] = allPairs();

test("a pair that comes up less than a hundred times in a hundred thousand seeds is rare, also by its share of fewer", () => {
  const often = others.map((pair) => [pair, 1_000] as const);
  const whole = new Map([...often, [first, 99], [second, 100]]);
  expect(rarePairs(whole, 100_000)).toEqual([{ pair: first, times: 99, scaled: 99 }]);
  const tenth = new Map([...often, [first, 9], [second, 10]]);
  expect(rarePairs(tenth, 10_000)).toEqual([{ pair: first, times: 9, scaled: 90 }]);
});

test("a pair that never came up is the rarest", () => {
  const [never, ...rest] = rarePairs(new Map([...others.map((pair) => [pair, 5] as const), [second, 1]]), 10_000);
  expect(never).toEqual({ pair: first, times: 0, scaled: 0 });
  expect(rest.map(({ pair, scaled }) => [pair, scaled]).slice(0, 2)).toEqual([
    [second, 10],
    [others[0], 50],
  ]);
});
