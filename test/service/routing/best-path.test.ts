import { describe, expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { bestPath } from "../../../src/service/routing/best-path.ts";
import { findPaths, pairsToRead } from "../../../src/service/routing/path.ts";
import { PORTION_ALL, performLegs } from "../../../src/service/routing/plan.ts";

const token = (index: number) => toAddress(`0x${index.toString(16).padStart(40, "0")}`);
const [A, B, C, D] = [token(1), token(2), token(3), token(4)] as [Address, Address, Address, Address];
let pools = 0;

function pair(tokenA: Address, tokenB: Address, reserveA: bigint, reserveB: bigint): PoolState {
  pools += 1;
  const [token0, token1] = tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
  const pool = {
    kind: 1,
    protocol: 0,
    address: token(1_000 + pools),
    token0,
    token1,
    feePips: 3000,
    tickSpacing: 0,
  } as const;
  return tokenA < tokenB ? pairState(pool, reserveA, reserveB) : pairState(pool, reserveB, reserveA);
}

function market(states: readonly PoolState[]) {
  return (tokenA: Address, tokenB: Address) =>
    states.filter(({ pool }) => [pool.token0, pool.token1].sort().join() === [tokenA, tokenB].sort().join());
}

const trade = { from: A, to: B, amountIn: 1_000_000n };

describe("paths", () => {
  test("never meet a token twice, and every pair on them was asked for", () => {
    const states = [pair(A, B, 1n, 1n), pair(A, C, 1n, 1n), pair(C, B, 1n, 1n), pair(C, D, 1n, 1n), pair(D, B, 1n, 1n)];
    for (const [maxHops, count] of [
      [1, 1],
      [2, 2],
      [3, 3],
    ] as const) {
      const search = { from: A, to: B, via: [A, B, C, D], maxHops };
      const paths = findPaths(search, market(states));
      expect(paths).toHaveLength(count);
      const asked = new Set(pairsToRead(search).map((tokens) => [...tokens].sort().join()));
      for (const path of paths) {
        const tokens = [A, ...path.map((hop) => hop.tokenOut)];
        expect(new Set(tokens).size).toBe(tokens.length);
        for (const hop of path) expect(asked).toContain([hop.tokenIn, hop.tokenOut].sort().join());
      }
    }
  });
});

describe("the best path", () => {
  const direct = pair(A, B, 10n ** 12n, 10n ** 12n);
  const detour = [pair(A, C, 10n ** 15n, 10n ** 15n), pair(C, B, 10n ** 15n, 2n * 10n ** 15n)];
  const paths = findPaths({ from: A, to: B, via: [C], maxHops: 2 }, market([direct, ...detour]));

  test("is the one with the highest output, and its amounts are those of its legs", () => {
    const best = bestPath(paths, trade, undefined);
    expect(best.kind).toBe("found");
    if (best.kind !== "found") return;
    expect(best.route.legs.map((leg) => leg.tokenOut)).toEqual([C, B]);
    expect(best.route.legs[1]!.amountIn).toBe(best.route.legs[0]!.amountOut);
    expect(best.route.legs[1]!.amountOut).toBe(best.route.amountOut);
    expect(best.route.spotAmountOut).toBeGreaterThanOrEqual(best.route.amountOut);
  });

  test("gives way to a shorter one when gas costs more than the longer one brings", () => {
    const best = bestPath(paths, trade, { amount: 2_000_000n, gas: 100_000n });
    expect(best.kind === "found" && best.route.legs).toHaveLength(1);
  });

  test("waits for state that could change the answer, and only for that", () => {
    let loaded = 0;
    const unread = (atMost: bigint): PoolState => ({
      pool: { ...direct.pool, address: token(9_999) },
      quote: () => ({
        kind: "unread",
        atMost,
        load: async () => {
          loaded += 1;
        },
      }),
      spot: direct.spot,
    });
    const path = (state: PoolState) => [{ state, tokenIn: A, tokenOut: B }];
    const known = bestPath([path(direct)], trade, undefined);
    const amountOut = known.kind === "found" ? known.route.amountOut : 0n;
    expect(bestPath([path(direct), path(unread(amountOut))], trade, undefined).kind).toBe("found");
    expect(bestPath([path(direct), path(unread(amountOut + 1n))], trade, undefined).kind).toBe("unread");
    expect(loaded).toBe(0);
  });

  test("does not exist when no pool can take the amount", () => {
    expect(bestPath(paths, { ...trade, amountIn: 1n << 120n }, undefined).kind).toBe("none");
    expect(bestPath([], trade, undefined).kind).toBe("none");
  });
});

test("a pool that is met twice is met the second time as the first leg left it", () => {
  const state = pair(A, B, 10n ** 9n, 10n ** 9n);
  const half = { state, tokenIn: A, tokenOut: B, portion: PORTION_ALL / 2n };
  const twice = performLegs([half, { ...half, portion: PORTION_ALL }], { from: A, to: B, amountIn: 10n ** 8n });
  const once = performLegs([{ ...half, portion: PORTION_ALL }], { from: A, to: B, amountIn: 10n ** 8n });
  expect(twice.kind === "filled" && twice.legs[1]!.amountOut < twice.legs[0]!.amountOut).toBe(true);
  // The product of the reserves is kept, so two halves in a row bring what one whole brings, but for the fee's place.
  const [a, b] = [twice, once].map((one) => (one.kind === "filled" ? one.amountOut : 0n)) as [bigint, bigint];
  expect(a > b ? a - b : b - a).toBeLessThan(b / 1_000n);
});
