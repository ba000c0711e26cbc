import { expect, test } from "vitest";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { inLegs, legsOf } from "../../../src/service/routing/legs.ts";
import { type Hop, performHops } from "../../../src/service/routing/plan.ts";
import { runToEnd, UNLIMITED } from "../../../src/service/routing/steps.ts";
import { largeWorld } from "./support/large-world.ts";

const UNIT = 10n ** 18n;
/** Where a pool is shared, a leg meets it as those before it left it, so that a large trade brings some points less. */
const AMOUNTS = [1_000n, 20_000n, 50_000n];

/** A route over shares of what is held, and the same flow as legs with amounts of their own. */
function bothWays(seed: number, amountIn: bigint) {
  const world = largeWorld({ hubs: 3, curvesOfPair: 3, ticks: 30 }, seed);
  const trade = { from: world.sold, to: world.bought, amountIn };
  const found = bestRoute(world.paths(), trade, { gasRate: undefined, readsMore: true });
  if (found.kind !== "found") throw new Error(`seed ${seed} has no route`);
  const { hops, amountOut } = found.route;
  const stateOf = new Map(world.states.map((state) => [state.pool.address, state]));
  const planned = hops.map(({ pool, tokenIn, tokenOut, portion }) => {
    const state = stateOf.get(pool.address);
    if (state === undefined) throw new Error(`${pool.address} is of another world`);
    return { state, tokenIn, tokenOut, portion };
  });
  const performed = runToEnd(performHops(inLegs(planned, hops, trade.from), trade, UNLIMITED));
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
