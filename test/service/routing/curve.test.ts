import { expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { Curve } from "../../../src/service/routing/curve.ts";
import { createEdge } from "../../../src/service/routing/edge.ts";
import { UNLIMITED } from "../../../src/service/routing/steps.ts";

const [SOLD, BOUGHT] = [toAddress(`0x${"0a".repeat(20)}`), toAddress(`0x${"0b".repeat(20)}`)];
const FORTUNE = 1n << 80n;

/** A pool whose first unit fetches so much that what the next ones do is lost in a float. */
function cliff(taken = 0n): PoolState {
  const place = { address: toAddress(`0x${"0c".repeat(20)}`), token0: SOLD, token1: BOUGHT };
  return {
    pool: { kind: 2, protocol: 1, ...place, feePips: 0, tickSpacing: 1 },
    quote: (_token, amountIn) => {
      const amountOut = taken === 0n ? FORTUNE + amountIn - 1n : amountIn;
      return { kind: "filled", amountOut, gas: 60_000n, after: cliff(taken + amountIn) };
    },
    spot: () => ({ numerator: taken === 0n ? FORTUNE : 1n, denominator: 1n }),
  };
}

test("a pool that pays next to nothing after a fortune pays a number for every amount", () => {
  const curve = new Curve(cliff(), SOLD);
  for (const _ of curve.reach(100, UNLIMITED));
  for (let amount = 0.5; amount < 100; amount += 0.5) {
    const figures = [curve.knownOutputAt(amount), curve.rateAt(amount), curve.atMost(amount)];
    expect(figures.every(Number.isFinite), `${amount}: ${figures}`).toBe(true);
  }
});

// A figure that is no number stands for "sample further": such a search never came to an end, and nobody else got a turn.
test("a search over such a pool ends, whatever is asked of it", () => {
  const paths = [[createEdge(SOLD, BOUGHT, [cliff()])]];
  for (const amountIn of [1n, 51n, 1_275n, 2_550n]) {
    const best = bestRoute(paths, { from: SOLD, to: BOUGHT, amountIn }, { gasRate: undefined, readsMore: true });
    expect(best.kind).toBe("found");
  }
});
