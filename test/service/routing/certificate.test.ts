import { describe, expect, test } from "vitest";
import { mulDivUp } from "../../../src/domain/money/amount.ts";
import { BETWEEN_GAS } from "../../../src/service/gas/hop-gas.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import type { Path } from "../../../src/service/routing/path.ts";
import { dualBound } from "./support/dual-bound.ts";
import { type Fixture, fixtures } from "./support/fixtures.ts";
import { boundOf, type FixtureTrade, gasRateOf, tradesOf } from "./support/trades.ts";

/** The benchmark takes more sizes; the largest ones are the hardest. */
const LARGEST = [3e6, 15e6];
const SIZES = [1e4, 1e6, 15e6];
const MOST_BP = 1;

function routeOf({ paths, trade }: FixtureTrade, gasRate?: ReturnType<typeof gasRateOf>) {
  const best = bestRoute(paths, trade, { gasRate, readsMore: false });
  if (best.kind !== "found") throw new Error(`no route for ${trade.amountIn} of ${trade.from} to ${trade.to}`);
  return best.route;
}

describe.each(fixtures())("on the pools of the fixture $name", (fixture: Fixture) => {
  const trades = tradesOf(fixture, SIZES);

  test("no circle of pools has a profit", () => {
    const values = new Map(Object.values(fixture.tokens).map((one) => [one.address, one.dollars / 10 ** one.decimals]));
    const { address, dollars, decimals } = fixture.tokens.USDC!;
    const amountIn = BigInt(Math.round((1e4 / dollars) * 10 ** decimals));
    const other = fixture.tokens.WETH!.address;
    // What a circle would earn comes on top of what the amount is worth at the prices of all pools.
    const bound = dualBound(fixture.states, { from: address, to: other, amountIn }, values);
    const worth = (Number(amountIn) * values.get(address)!) / values.get(other)!;
    expect(bound.amountOut / worth - 1).toBeLessThan(1e-7);
  });

  test("without gas, a route is within 1 bp of what any routing could bring, and never above it", () => {
    const largest = tradesOf(fixture, LARGEST).filter((one, index, all) => one.sold !== all[index + 1]?.sold);
    for (const one of largest) {
      const { amountOut } = routeOf(one);
      const gapBp = (boundOf(one).amountOut / Number(amountOut) - 1) * 1e4;
      const name = `$${one.dollars} ${one.sold.symbol} to ${one.bought.symbol}`;
      expect(gapBp, name).toBeLessThan(MOST_BP);
      expect(gapBp, name).toBeGreaterThan(-1e-4);
    }
  });

  test("with gas, what is left is never below the best single path", () => {
    for (const one of trades) {
      for (const gwei of [1, 20, 200]) {
        const gasRate = gasRateOf(one, gwei)!;
        const cost = (gas: bigint) => mulDivUp(gas, gasRate.amount, gasRate.gas);
        const { amountOut, gas } = routeOf(one, gasRate);
        const net = amountOut - cost(gas);
        for (const path of one.paths) {
          for (const single of everySingle(path, one.trade.amountIn)) {
            const least = single.amount - cost(single.gas);
            expect(net >= least, `${one.dollars} at ${gwei} gwei: ${net} against ${least}`).toBe(true);
          }
        }
      }
    }
  });
});

test("a trade that is split between pools of all kinds is within the bound", () => {
  const fixture = fixtures().find(({ name }) => name === "stable")!;
  const kinds = tradesOf(fixture, LARGEST).map((one) => new Set(routeOf(one).hops.map(({ pool }) => pool.kind)).size);
  expect(kinds.filter((count) => count === 3).length).toBeGreaterThan(kinds.length / 2);
});

test("parts of a trade, one after the other in a stable pool, bring more than the whole, and the bound covers it", () => {
  const { tokens, states } = fixtures().find(({ name }) => name === "stable")!;
  const pool = states.find((state) => state.pool.kind === 3)!;
  const [from, to] = [pool.pool.token0, pool.pool.token1];
  const sold = Object.values(tokens).find(({ address }) => address === from)!;
  const amountIn = 15_000_000n * 10n ** BigInt(sold.decimals);
  const whole = pool.quote(from, amountIn);
  const parts = 400;
  let [state, brought] = [pool, 0n];
  for (let part = 0; part < parts; part += 1) {
    const quote = state.quote(from, amountIn / BigInt(parts));
    if (quote.kind !== "filled") throw new Error(`part ${part} is not taken`);
    [state, brought] = [quote.after, brought + quote.amountOut];
  }
  const values = new Map(Object.values(tokens).map((one) => [one.address, one.dollars / 10 ** one.decimals]));
  const bound = dualBound([pool], { from, to, amountIn }, values);
  if (whole.kind !== "filled") throw new Error("the whole is not taken");
  expect(brought).toBeGreaterThan(whole.amountOut);
  expect(bound.amountOut).toBeGreaterThan(Number(brought));
  expect(bound.amountOut / Number(brought) - 1).toBeLessThan(1e-4);
});

/** Every way of taking one pool of each edge with the whole amount. */
function everySingle(path: Path, amountIn: bigint): readonly { amount: bigint; gas: bigint }[] {
  let reached = [{ amount: amountIn, gas: BigInt(path.length - 1) * BETWEEN_GAS }];
  for (const { curves, tokenIn } of path) {
    const pools: PoolState[] = curves.map((curve) => curve.pool);
    reached = reached.flatMap(({ amount, gas }) =>
      pools.flatMap((pool) => {
        const quote = pool.quote(tokenIn, amount);
        return quote.kind === "filled" ? [{ amount: quote.amountOut, gas: gas + quote.gas }] : [];
      }),
    );
  }
  return reached;
}
