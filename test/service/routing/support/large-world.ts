import { type Address, toAddress } from "../../../../src/domain/money/address.ts";
import { createRandom } from "../../../../src/sandbox/market/random.ts";
import { type Pool, type PoolState, sortTokens } from "../../../../src/service/pools/pool.ts";
import { pairState } from "../../../../src/service/pools/uniswap-v2/pair.ts";
import { concentratedPoolState } from "../../../../src/service/pools/uniswap-v3/concentrated-pool.ts";
import { sqrtRatioAtTick } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { createEdge, type Edge } from "../../../../src/service/routing/edge.ts";
import { findPaths, type Path } from "../../../../src/service/routing/path.ts";

/** How large a world is. */
export interface WorldSize {
  readonly hubs: number;
  /** V3 pools of each pair, alongside one V2 pair */
  readonly curvesOfPair: number;
  /** initialised ticks of each V3 pool, about */
  readonly ticks: number;
}

/** Pools between every two of many tokens that are all worth the same. */
export interface LargeWorld {
  readonly sold: Address;
  readonly bought: Address;
  readonly states: readonly PoolState[];
  /** Paths with edges of their own pools; curves that were sampled before are met again. */
  paths(): readonly Path[];
}

const TIERS = [
  { feePips: 100, tickSpacing: 1 },
  { feePips: 500, tickSpacing: 10 },
  { feePips: 3000, tickSpacing: 60 },
  { feePips: 10000, tickSpacing: 200 },
];

const UNIT = 10n ** 18n;

/**
 * A world whose pools nobody has looked at. Equal seeds give equal pools, and none of them remembers the other's.
 * @param as how each pool is met
 */
export function largeWorld(
  { hubs, curvesOfPair, ticks }: WorldSize,
  { seed = 1, as = (state) => state }: { seed?: number; as?: (state: PoolState) => PoolState } = {},
): LargeWorld {
  const tokens = Array.from({ length: hubs + 2 }, (_, index) => tokenAt(index));
  const [sold, bought, ...via] = tokens as [Address, Address, ...Address[]];
  const states: PoolState[] = [];
  const edgeStates = new Map<string, readonly PoolState[]>();
  for (const [index, tokenA] of tokens.entries()) {
    for (const tokenB of tokens.slice(index + 1)) {
      const own = poolsOf([tokenA, tokenB], { first: states.length, curvesOfPair, ticks, seed }).map(as);
      states.push(...own);
      edgeStates.set(tokenA + tokenB, own).set(tokenB + tokenA, own);
    }
  }
  return {
    sold,
    bought,
    states,
    paths() {
      const edges = new Map<string, Edge>();
      return findPaths({ from: sold, to: bought, via, maxHops: 3 }, (tokenIn, tokenOut) => {
        const key = tokenIn + tokenOut;
        const edge = edges.get(key) ?? createEdge(tokenIn, tokenOut, edgeStates.get(key) ?? []);
        edges.set(key, edge);
        return edge;
      });
    },
  };
}

function tokenAt(index: number): Address {
  return toAddress(`0x${(index + 1).toString(16).padStart(4, "0")}${"b".repeat(36)}`);
}

function poolsOf(
  pair: readonly [Address, Address],
  plan: { first: number; curvesOfPair: number; ticks: number; seed: number },
): PoolState[] {
  const random = createRandom(plan.seed, plan.first, 0x6c617267);
  const [token0, token1] = sortTokens(...pair);
  const poolAt = (place: number) => ({
    address: toAddress(`0x${(plan.first + place + 1).toString(16).padStart(40, "0")}`),
    token0,
    token1,
  });
  const reserve = () => BigInt(Math.round(1e6 * (0.5 + random.uniform()))) * UNIT;
  const v2: Pool = { kind: 1, protocol: 0, feePips: 3000, tickSpacing: 0, ...poolAt(0) };
  const curves = Array.from({ length: plan.curvesOfPair }, (_, place) => {
    const pool: Pool = { kind: 2, protocol: 1, ...TIERS[place % TIERS.length]!, ...poolAt(place + 1) };
    return curveState(pool, plan.ticks, () => random.uniform());
  });
  return [pairState(v2, reserve(), reserve()), ...curves];
}

/** Many overlapping ranges around a price near one; nothing lies beyond them. */
function curveState(pool: Pool, ticks: number, uniform: () => number): PoolState {
  const { tickSpacing } = pool;
  const tick = Math.floor((2 * uniform() - 1) * 100);
  const nets = new Map<number, bigint>();
  let liquidity = 0n;
  const add = (lower: number, upper: number, amount: bigint) => {
    nets.set(lower, (nets.get(lower) ?? 0n) + amount);
    nets.set(upper, (nets.get(upper) ?? 0n) - amount);
    if (lower <= tick && tick < upper) liquidity += amount;
  };
  const aligned = (at: number) => Math.round(at / tickSpacing) * tickSpacing;
  add(aligned(-80_000), aligned(80_000), 100_000n * UNIT);
  for (let range = 0; range < ticks / 2; range += 1) {
    const lower = aligned(tick + (2 * uniform() - 1) * 40 * tickSpacing);
    const width = tickSpacing * (1 + Math.floor(uniform() * 20));
    add(lower, lower + width, BigInt(Math.round(1e6 * uniform())) * UNIT);
  }
  const words = new Map<number, bigint>();
  const [first, last] = [-80_000, 80_000].map((at) => Math.floor(aligned(at) / tickSpacing) >> 8) as [number, number];
  for (let word = first - 1; word <= last + 1; word += 1) words.set(word, 0n);
  for (const at of nets.keys()) {
    const compressed = at / tickSpacing;
    words.set(compressed >> 8, (words.get(compressed >> 8) ?? 0n) | (1n << BigInt(compressed & 255)));
  }
  const position = { price: sqrtRatioAtTick(tick) + 1n, tick, liquidity };
  return concentratedPoolState(pool, { ...position, words, nets }, async (word, down) => {
    for (let far = 0; far < 64; far += 1) words.set(word + (down ? -far : far), 0n);
  });
}
