import { describe, expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import type { GasRate } from "../../../src/service/routing/best-path.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { createEdge, type Edge } from "../../../src/service/routing/edge.ts";
import { findPaths, type PathSearch, pairsToRead } from "../../../src/service/routing/path.ts";
import { type PlannedHop, PORTION_ALL, performHops } from "../../../src/service/routing/plan.ts";
import { runToEnd, UNLIMITED } from "../../../src/service/routing/steps.ts";

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

/** Answers with the one edge between two tokens, made of all their pools. */
function market(states: readonly PoolState[]) {
  const edges = new Map<string, Edge>();
  return (tokenIn: Address, tokenOut: Address) => {
    const between = states.filter(
      ({ pool }) => [pool.token0, pool.token1].sort().join() === [tokenIn, tokenOut].sort().join(),
    );
    if (between.length === 0) return undefined;
    const edge = edges.get(tokenIn + tokenOut) ?? createEdge(tokenIn, tokenOut, between);
    edges.set(tokenIn + tokenOut, edge);
    return edge;
  };
}

function pathsOver(states: readonly PoolState[], search: Partial<PathSearch> = {}) {
  return findPaths({ from: A, to: B, via: [C, D], maxHops: 3, ...search }, market(states));
}

function search(paths: ReturnType<typeof pathsOver>, amountIn = trade.amountIn, gasRate?: GasRate) {
  return bestRoute(paths, { ...trade, amountIn }, { gasRate, readsMore: true });
}

function found(route: ReturnType<typeof search>) {
  if (route.kind !== "found") throw new Error(`no route was found but ${route.kind}`);
  return route.route;
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
      const asked = pairsToRead(search).map((tokens) => [...tokens].sort().join());
      expect(new Set(asked).size).toBe(asked.length);
      for (const path of paths) {
        const tokens = [A, ...path.map((hop) => hop.tokenOut)];
        expect(new Set(tokens).size).toBe(tokens.length);
        for (const hop of path) expect(asked).toContain([hop.tokenIn, hop.tokenOut].sort().join());
      }
    }
  });
});

describe("the best route", () => {
  const direct = pair(A, B, 10n ** 12n, 10n ** 12n);
  const detour = [pair(A, C, 10n ** 15n, 10n ** 15n), pair(C, B, 10n ** 15n, 2n * 10n ** 15n)];
  const paths = pathsOver([direct, ...detour]);

  test("is the path with the highest output, and its amounts are those of its legs", () => {
    const { hops, amountOut, spotAmountOut } = found(search(paths));
    expect(hops.map((hop) => hop.tokenOut)).toEqual([C, B]);
    expect(hops[1]!.amountIn).toBe(hops[0]!.amountOut);
    expect(hops[1]!.amountOut).toBe(amountOut);
    expect(spotAmountOut).toBeGreaterThanOrEqual(amountOut);
  });

  test("gives way to a shorter one when gas costs more than the longer one brings", () => {
    const route = found(search(paths, trade.amountIn, { amount: 2_000_000n, gas: 100_000n }));
    expect(route.hops).toHaveLength(1);
  });

  test("is found in one leg over two hops also where gas costs more than it brings", () => {
    const gasRate = { amount: 20n * trade.amountIn, gas: 100_000n };
    for (const inOneLeg of [false, true]) {
      const options = { gasRate, readsMore: true, inLegs: true, inOneLeg };
      expect(found(bestRoute(pathsOver(detour), trade, options)).hops.map((hop) => hop.tokenOut)).toEqual([C, B]);
    }
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
    const small = 1_000n;
    const known = found(search(pathsOver([direct]), small));
    expect(search(pathsOver([direct, unread(0n)]), small).kind).toBe("found");
    expect(search(pathsOver([direct, unread(known.amountOut + 1n)]), small).kind).toBe("unread");
    const settled = bestRoute(
      pathsOver([direct, unread(known.amountOut + 1n)]),
      { ...trade, amountIn: small },
      { gasRate: undefined, readsMore: false },
    );
    expect(found(settled).amountOut).toBe(known.amountOut);
    expect(loaded).toBe(0);
  });

  test("does not exist when no pool can take the amount", () => {
    expect(search(paths, 1n << 120n).kind).toBe("none");
    expect(search([]).kind).toBe("none");
  });
});

describe("a split", () => {
  const large = 10n ** 11n;
  const twins = [pair(A, B, 10n ** 12n, 10n ** 12n), pair(A, B, 10n ** 12n, 10n ** 12n)];

  test("uses equal pools equally", () => {
    const { hops } = found(search(pathsOver(twins), large));
    expect(hops).toHaveLength(2);
    const [first, second] = hops.map((hop) => hop.amountIn) as [bigint, bigint];
    expect(first + second).toBe(large);
    expect(first > second ? first - second : second - first).toBeLessThan(large / 100n);
  });

  test("shares the pool that several paths need, and passes on all that comes out of it", () => {
    const states = [
      pair(A, C, 10n ** 13n, 10n ** 13n),
      pair(C, B, 10n ** 12n, 10n ** 12n),
      pair(C, D, 10n ** 12n, 10n ** 12n),
      pair(D, B, 10n ** 12n, 10n ** 12n),
    ];
    const { hops, amountOut } = found(search(pathsOver(states), large));
    expect(hops.map((hop) => hop.tokenIn)).toEqual([A, C, C, D]);
    expect(hops[0]!.amountIn).toBe(large);
    expect(hops[1]!.amountIn + hops[2]!.amountIn).toBe(hops[0]!.amountOut);
    expect(hops[3]!.amountIn).toBe(hops[2]!.amountOut);
    const bought = hops.filter((hop) => hop.tokenOut === B).reduce((sum, hop) => sum + hop.amountOut, 0n);
    expect(amountOut).toBe(bought);
  });

  test("loses the legs that do not pay their gas, and is a single path where none does", () => {
    const thin = pair(A, B, 10n ** 10n, 10n ** 10n);
    const gross = found(search(pathsOver([...twins, thin]), large));
    expect(gross.hops).toHaveLength(3);
    const rate = (amount: bigint): GasRate => ({ amount, gas: 105_000n });
    expect(found(search(pathsOver([...twins, thin]), large, rate(large / 200n))).hops).toHaveLength(2);
    expect(found(search(pathsOver([...twins, thin]), large, rate(large / 10n))).hops).toHaveLength(1);
  });

  test("never runs in a circle over the tokens in between", () => {
    const states = [
      [A, C],
      [A, D],
      [C, B],
      [D, B],
      [C, D],
      [D, C],
    ].flatMap(([one, two]) => [pair(one!, two!, 10n ** 12n, 10n ** 12n)]);
    const { hops } = found(search(pathsOver(states), large * 5n));
    const between = hops.filter((hop) => hop.tokenIn !== A && hop.tokenOut !== B).map((hop) => hop.tokenIn);
    expect(new Set(between).size).toBeLessThanOrEqual(1);
  });
});

test("a pool that is met twice is met the second time as the first leg left it", () => {
  const state = pair(A, B, 10n ** 9n, 10n ** 9n);
  const half = { state, tokenIn: A, tokenOut: B, portion: PORTION_ALL / 2n };
  const perform = (hops: readonly PlannedHop[]) =>
    runToEnd(performHops(hops, { from: A, to: B, amountIn: 10n ** 8n }, UNLIMITED));
  const twice = perform([half, { ...half, portion: PORTION_ALL }]);
  const once = perform([{ ...half, portion: PORTION_ALL }]);
  expect(twice.kind === "filled" && twice.hops[1]!.amountOut < twice.hops[0]!.amountOut).toBe(true);
  // The product of the reserves is kept, so two halves in a row bring what one whole brings, but for the fee's place.
  const [a, b] = [twice, once].map((one) => (one.kind === "filled" ? one.amountOut : 0n)) as [bigint, bigint];
  expect(a > b ? a - b : b - a).toBeLessThan(b / 1_000n);
});
