import { describe, expect, test } from "vitest";
import { gasCost } from "../../../src/service/routing/best-path.ts";
import {
  type BestRoute,
  bestRoute,
  type RouteSearch,
  type RouteTrade,
  searchRoute,
} from "../../../src/service/routing/best-route.ts";
import type { Path } from "../../../src/service/routing/path.ts";
import { fixtures } from "./support/fixtures.ts";
import { type LargeWorld, largeWorld } from "./support/large-world.ts";
import { gasRateOf, tradesOf } from "./support/trades.ts";

const AT_EVERY_PLACE = { isOver: () => true };
const SIZES = [1e5, 15e6];
const WORLD = { hubs: 4, curvesOfPair: 2, ticks: 40 };
const GAS_RATE = { amount: 10n ** 15n, gas: 300_000n };

/** What a route is, to the wei. */
function linesOf(best: BestRoute): readonly string[] {
  if (best.kind !== "found") return [best.kind];
  const { hops, amountOut, gas, spotAmountOut } = best.route;
  const numbers = [amountOut, gas, spotAmountOut].map(String);
  return [
    ...numbers,
    ...hops.map(({ pool, portion, amountIn, amountOut }) => [pool.address, portion, amountIn, amountOut].join()),
  ];
}

/** Takes a search step by step. @returns its end, and how often it gave way */
function stepThrough(search: RouteSearch, onStep: () => void = () => undefined): { best: BestRoute; steps: number } {
  for (let steps = 0; ; steps += 1) {
    const step = search.steps.next();
    if (step.done === true) return { best: step.value, steps };
    onStep();
  }
}

function tradeIn(world: LargeWorld, whole: bigint): RouteTrade {
  return { from: world.sold, to: world.bought, amountIn: whole * 10n ** 18n };
}

describe("a search that gives way at every possible place", () => {
  test("finds the same route as in one go, to the wei, on pools that nobody looked at before", () => {
    const [whole, sliced] = [fixtures(), fixtures()].map((all) => all.flatMap((one) => tradesOf(one, SIZES)));
    for (const [index, one] of whole!.entries()) {
      const other = sliced![index]!;
      const options = { gasRate: gasRateOf(one, 5), readsMore: true };
      const { best, steps } = stepThrough(
        searchRoute(other.paths, other.trade, { ...options, budget: AT_EVERY_PLACE }),
      );
      const name = `$${one.dollars} of ${one.sold.symbol} to ${one.bought.symbol} on ${one.fixture.name}`;
      expect(linesOf(best), name).toEqual(linesOf(bestRoute(one.paths, one.trade, options)));
      expect(steps, name).toBeGreaterThanOrEqual(5);
    }
  });

  test.each([1_000n, 200_000n, 1_000_000n])("does so in a world of many paths, for %s coins", (whole) => {
    const [one, other] = [largeWorld(WORLD), largeWorld(WORLD)];
    const options = { gasRate: GAS_RATE, readsMore: true };
    const search = searchRoute(other.paths(), tradeIn(other, whole), { ...options, budget: AT_EVERY_PLACE });
    expect(linesOf(stepThrough(search).best)).toEqual(linesOf(bestRoute(one.paths(), tradeIn(one, whole), options)));
  });

  test("finds the same route while another search goes over the same pools in between", () => {
    const [alone, shared] = [largeWorld(WORLD), largeWorld(WORLD)];
    const options = { gasRate: GAS_RATE, readsMore: true, budget: AT_EVERY_PLACE };
    const trade = (world: LargeWorld) => tradeIn(world, 100_000n);
    const first = searchRoute(shared.paths(), trade(shared), options);
    const second = searchRoute(shared.paths(), trade(shared), options);
    const { best } = stepThrough(first, () => second.steps.next());
    expect(linesOf(best)).toEqual(linesOf(bestRoute(alone.paths(), trade(alone), options)));
  });

  test("has, from the first route on, an answer at every place that holds in the pools", () => {
    const world = largeWorld(WORLD);
    const paths: readonly Path[] = world.paths();
    const trade = tradeIn(world, 200_000n);
    const search = searchRoute(paths, trade, { gasRate: GAS_RATE, readsMore: true, budget: AT_EVERY_PLACE });
    const seen = new Map<bigint, number>();
    let before = 0n;
    const { best } = stepThrough(search, () => {
      const route = search.soFar();
      if (route === undefined) return;
      const net = route.amountOut - gasCost(route.gas, GAS_RATE);
      expect(net).toBeGreaterThanOrEqual(before);
      before = net;
      if (seen.has(route.amountOut)) return;
      seen.set(route.amountOut, route.hops.length);
      expect(route.hops.reduce((sum, hop) => (hop.tokenIn === trade.from ? sum + hop.amountIn : sum), 0n)).toBe(
        trade.amountIn,
      );
      expect(route.hops.reduce((sum, hop) => (hop.tokenOut === trade.to ? sum + hop.amountOut : sum), 0n)).toBe(
        route.amountOut,
      );
    });
    expect(seen.size).toBeGreaterThan(0);
    expect(best.kind === "found" && seen.has(best.route.amountOut)).toBe(true);
  });
});
