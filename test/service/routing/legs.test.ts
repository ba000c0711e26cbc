import { expect, test } from "vitest";
import { slipstream } from "../../../src/service/pools/slipstream/kind.ts";
import { uniswapV3 } from "../../../src/service/pools/uniswap-v3/kind.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { inLegs, legsOf } from "../../../src/service/routing/legs.ts";
import { type Hop, performHops } from "../../../src/service/routing/plan.ts";
import { runToEnd, UNLIMITED } from "../../../src/service/routing/steps.ts";
import { fixtures } from "./support/fixtures.ts";
import { largeWorld } from "./support/large-world.ts";
import { tradesOf } from "./support/trades.ts";

const UNIT = 10n ** 18n;
/** Where a pool is shared, a leg meets it as those before it left it, so that a large trade brings some points less. */
const AMOUNTS = [1_000n, 20_000n, 50_000n];

/** A route over shares of what is held, and the same flow as legs with amounts of their own. @param kind of all pools then */
function bothWays(seed: number, amountIn: bigint, kind = uniswapV3.number) {
  const world = largeWorld({ hubs: 3, curvesOfPair: 3, ticks: 30 }, { seed });
  const trade = { from: world.sold, to: world.bought, amountIn };
  const found = bestRoute(world.paths(), trade, { gasRate: undefined, readsMore: true });
  if (found.kind !== "found") throw new Error(`seed ${seed} has no route`);
  const { hops, amountOut } = found.route;
  const stateOf = new Map(world.states.map((state) => [state.pool.address, state]));
  const planned = hops.map(({ pool, tokenIn, tokenOut, portion }) => {
    const state = stateOf.get(pool.address);
    if (state === undefined) throw new Error(`${pool.address} is of another world`);
    return { state: { ...state, pool: { ...pool, kind } }, tokenIn, tokenOut, portion };
  });
  const performed = runToEnd(performHops(inLegs(planned, hops, { from: trade.from, maxHops: 99 }), trade, UNLIMITED));
  if (performed.kind !== "filled") throw new Error(`the legs of seed ${seed} are ${performed.kind}`);
  return { trade, shares: { hops, amountOut }, legs: performed };
}

const soldBy = (hops: readonly Hop[]): bigint => hops[0]?.amountIn ?? 0n;

test("a route as legs sells the whole amount, each leg leads from the sold to the bought token, and brings as much", () => {
  let splits = 0;
  for (let seed = 1; seed <= 12; seed += 1) {
    for (const amount of AMOUNTS) {
      const context = `seed ${seed}, ${amount}`;
      const { trade, shares, legs } = bothWays(seed, amount * UNIT);
      const each = legsOf(legs.hops);
      for (const hops of each) {
        expect(hops.at(-1)?.tokenOut, context).toBe(trade.to);
        for (const [place, hop] of hops.entries()) {
          const before = hops[place - 1];
          // A later hop takes all that its own leg brought: nothing of another leg, and nothing stays behind.
          expect([hop.tokenIn, hop.amountIn], context).toEqual(
            before === undefined ? [trade.from, hop.amountIn] : [before.tokenOut, before.amountOut],
          );
        }
      }
      expect(
        each.map(soldBy).reduce((sum, sold) => sum + sold, 0n),
        context,
      ).toBe(trade.amountIn);
      expect(Number(legs.amountOut) / Number(shares.amountOut), context).toBeGreaterThan(0.996);
      if (each.length > 1) splits += 1;
    }
  }
  expect(splits).toBeGreaterThan(20);
});

test("a pool whose fee follows its price is met by one leg alone, which is the largest of those that share it", () => {
  let fewer = 0;
  for (let seed = 1; seed <= 12; seed += 1) {
    const amount = 50_000n * UNIT;
    const { trade, legs } = bothWays(seed, amount, slipstream.number);
    const met = legs.hops.map(({ pool }) => pool.address);
    expect(new Set(met).size, `seed ${seed}`).toBe(met.length);
    const sold = legsOf(legs.hops).map(soldBy);
    expect(sold.reduce((sum, one) => sum + one, 0n)).toBe(trade.amountIn);
    if (sold.length < legsOf(bothWays(seed, amount).legs.hops).length) fewer += 1;
  }
  expect(fewer).toBeGreaterThan(0);
});

test("a route that meets such a pool twice is none: nobody knows what it takes of the second part", () => {
  const { states, sold, bought } = largeWorld({ hubs: 3, curvesOfPair: 3, ticks: 30 });
  const direct = states.find(({ pool }) => [pool.token0, pool.token1].sort().join() === [sold, bought].sort().join());
  if (direct === undefined) throw new Error("there is no pool of both tokens");
  const twice = (kind: number) => {
    const hop = { state: { ...direct, pool: { ...direct.pool, kind } }, tokenIn: sold, tokenOut: bought };
    const hops = [
      { ...hop, portion: 5n * 10n ** 17n },
      { ...hop, portion: 10n ** 18n },
    ];
    return runToEnd(performHops(hops, { from: sold, to: bought, amountIn: UNIT }, UNLIMITED)).kind;
  };
  expect([twice(uniswapV3.number), twice(slipstream.number)]).toEqual(["filled", "short"]);
});

test("a split with more hops than calls may have becomes the legs that may be, and not one path alone", () => {
  let cut = 0;
  for (const fixture of fixtures()) {
    for (const { paths, trade, dollars, sold, bought } of tradesOf(fixture, [1e5, 1e6])) {
      const routed = (inLegs: boolean) => {
        const best = bestRoute(paths, trade, { gasRate: undefined, readsMore: false, inLegs });
        if (best.kind !== "found") throw new Error(`no route for ${trade.amountIn}`);
        return best.route;
      };
      const [whole, legs] = [routed(false), routed(true)];
      const lost = (1 - Number(legs.amountOut) / Number(whole.amountOut)) * 1e4;
      expect(lost, `${fixture.name}, $${dollars} ${sold.symbol} to ${bought.symbol}`).toBeLessThan(2);
      expect(legs.hops.length).toBeLessThanOrEqual(12);
      expect(legsOf(legs.hops).reduce((sum, hops) => sum + soldBy(hops), 0n)).toBe(trade.amountIn);
      if (whole.hops.length > 12) cut += 1;
    }
  }
  expect(cut).toBeGreaterThan(0);
});
