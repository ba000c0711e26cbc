import { expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import type { ReadWords } from "../../../src/chain/at-block/batch-reader.ts";
import { RpcError } from "../../../src/chain/json-rpc.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { Pool, PoolState } from "../../../src/service/pools/pool.ts";
import { uniswapV3 } from "../../../src/service/pools/uniswap-v3/kind.ts";
import { V3_SELECTOR } from "../../../src/service/pools/uniswap-v3/selectors.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { createEdge, type Edge } from "../../../src/service/routing/edge.ts";
import { findPaths } from "../../../src/service/routing/path.ts";
import { createSearcher } from "../../../src/service/routing/searcher.ts";
import { createTimeSlices } from "../../../src/service/routing/time-slices.ts";
import { createTimeLimit } from "../../../src/service/time-limit.ts";

const TIERS = [
  { feePips: 100, tickSpacing: 1 },
  { feePips: 500, tickSpacing: 10 },
  { feePips: 3_000, tickSpacing: 60 },
] as const;
/** All liquidity of a pool lies within so many ticks of its price. */
const REACH = 20_000;
const LIQUIDITY = 10n ** 24n;

const tokens = Array.from({ length: 5 }, (_, index) => toAddress(`0x${(index + 1).toString(16).padStart(40, "0")}`));
const [sold, bought, ...via] = tokens as [Address, Address, ...Address[]];
/** A busy machine is no reason to end. */
const LONG_MS = 600_000;

/**
 * Pools of each two tokens, of which no more is read than what a first quote needs; and all calls made since. `broken` are
 * those that answer no more, or for whose calls the node says this.
 */
async function world() {
  const calls: string[] = [];
  const spacings = new Map<Address, number>();
  const broken = new Map<Address, Error | undefined>();
  const read: ReadWords = async (to, data) => {
    calls.push(to + data);
    const failure = broken.get(to);
    if (failure !== undefined) throw failure;
    if (broken.has(to)) return undefined;
    const spacing = spacings.get(to) ?? 1;
    const place = Number(BigInt.asIntN(256, BigInt(`0x${data.slice(10)}`)));
    if (!data.startsWith(V3_SELECTOR.tickBitmap)) {
      return [LIQUIDITY, BigInt.asUintN(256, place < 0 ? LIQUIDITY : -LIQUIDITY), 1n, 1n];
    }
    const outermost = Math.floor(REACH / spacing);
    const bits = [-outermost, outermost].filter((tick) => tick >> 8 === place);
    return [bits.reduce((word, tick) => word | (1n << BigInt(tick & 255)), 0n)];
  };
  const states: PoolState[] = [];
  for (const [index, token0] of tokens.entries()) {
    for (const token1 of tokens.slice(index + 1)) {
      for (const tier of TIERS) {
        const address = toAddress(`0x${(states.length + 1).toString(16).padStart(40, "e")}`);
        const pool: Pool = { kind: uniswapV3.number, protocol: 1, address, token0, token1, ...tier };
        spacings.set(address, tier.tickSpacing);
        const state = uniswapV3.decode(pool, [[sqrtRatioAtTick(0), 0n], [LIQUIDITY]], { known: undefined, read });
        if (state === undefined) throw new Error("the pool has a price");
        await uniswapV3.prepare?.(state);
        states.push(state);
      }
    }
  }
  calls.length = 0;
  return { states, calls, broken };
}

function edgesOf(states: readonly PoolState[]) {
  const edges = new Map<string, Edge>();
  return (tokenIn: Address, tokenOut: Address) => {
    const isOfBoth = ({ pool }: PoolState) =>
      [pool.token0, pool.token1].sort().join() === [tokenIn, tokenOut].sort().join();
    const edge = edges.get(tokenIn + tokenOut) ?? createEdge(tokenIn, tokenOut, states.filter(isOfBoth));
    edges.set(tokenIn + tokenOut, edge);
    return edge;
  };
}

// Some thousand paths end at the same few pools. Each of them asked for more of its pool, twice as much as the one before.
test.each([
  ["that its pools can just take", 3n * 10n ** 23n],
  ["beyond everything that there is", 10n ** 30n],
])("a search for an amount %s asks for each part of a pool once", async (_, amountIn) => {
  const { states, calls } = await world();
  const paths = findPaths({ from: sold, to: bought, via, maxHops: 3 }, edgesOf(states));
  const find = createSearcher({ slices: createTimeSlices(systemClock), clock: systemClock });
  const gasRate = { amount: 10n ** 15n, gas: 300_000n };
  const limit = createTimeLimit(LONG_MS, systemClock);
  await find(paths, { from: sold, to: bought, amountIn }, { gasRate, limit });
  expect(calls.length).toBe(new Set(calls).size);
  expect(calls.length).toBeLessThan(10_000);
});

const AWAY = new RpcError({ kind: "transport", host: "node", message: "node: no answer" });

async function searched(pools: "one" | "all", failure: Error | undefined) {
  const { states, broken } = await world();
  const direct = states.filter(({ pool }) => pool.token0 === sold && pool.token1 === bought);
  for (const { pool } of pools === "one" ? direct.slice(0, 1) : states) broken.set(pool.address, failure);
  const paths = findPaths({ from: sold, to: bought, via: [], maxHops: 1 }, edgesOf(states));
  const find = createSearcher({ slices: createTimeSlices(systemClock), clock: systemClock });
  const limit = createTimeLimit(LONG_MS, systemClock);
  const amountIn = pools === "one" ? 10n ** 24n : 10n ** 30n;
  return find(paths, { from: sold, to: bought, amountIn }, { gasRate: undefined, limit });
}

test.each([
  ["the node does not answer", AWAY],
  ["the pool does not answer", undefined],
])("a pool of which no more can be read refuses no quote that others serve: %s", async (_, failure) => {
  expect((await searched("one", failure))?.amountOut).toBeGreaterThan(0n);
});

test("where nothing is found and the node did not answer for more, that is said, and not that there is no way", async () => {
  await expect(searched("all", AWAY)).rejects.toThrow(AWAY);
  expect(await searched("all", undefined)).toBeUndefined();
});
