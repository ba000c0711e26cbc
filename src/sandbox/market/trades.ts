import type { Address } from "../../domain/money/address.ts";
import { type Push, pushV2, pushV3, sqrtPriceX96 } from "../curve.ts";
import { FEED_DECIMALS, TOKENS } from "../plan.ts";
import type { SandboxPool } from "../world.ts";
import type { Prices } from "./prices.ts";
import { createRandom } from "./random.ts";

/** Where a pool stands: a V2 pair's reserves, a V3 pool's square-root price. */
export type PoolState =
  | { readonly kind: 1; readonly reserve0: bigint; readonly reserve1: bigint }
  | { readonly kind: 2; readonly sqrtX96: bigint };

/** One sale into a pool. */
export interface Trade extends Push {
  readonly pool: Address;
  readonly kind: SandboxPool["kind"];
}

/** A pool this close to its price is left alone, whatever its fee. */
const CLOSE_ENOUGH_PPM = 100;

/**
 * The sale that brings a pool to the given prices.
 * @returns undefined when it is as close as half its fee: who trades for profit does not come for less either
 */
export function alignment(pool: SandboxPool, state: PoolState, prices: Prices): Trade | undefined {
  const target = sqrtPriceX96(
    { decimals: TOKENS[pool.token0].decimals, price: prices[pool.token0] },
    { decimals: TOKENS[pool.token1].decimals, price: prices[pool.token1] },
  );
  if (isClose(state, target, Math.max(CLOSE_ENOUGH_PPM, pool.feePips / 2))) return undefined;
  const push =
    state.kind === 1
      ? pushV2({ ...state, feePips: pool.feePips }, target)
      : pushV3({ sqrtX96: state.sqrtX96, ranges: pool.ranges, feePips: pool.feePips }, target);
  return push === undefined ? undefined : { pool: pool.address, kind: pool.kind, ...push };
}

function isClose(state: PoolState, target: bigint, tolerancePpm: number): boolean {
  // Both sides as price x 2^192, so that a pair needs no square root.
  const wanted = target * target;
  const current = state.kind === 1 ? (state.reserve1 << 192n) / state.reserve0 : state.sqrtX96 * state.sqrtX96;
  const distance = current > wanted ? current - wanted : wanted - current;
  return distance * 1_000_000n <= wanted * BigInt(tolerancePpm);
}

const MOST_NOISE_TRADES = 2;
const LEAST_NOISE_DOLLARS = 100;
const MOST_NOISE_DOLLARS = 8_000;
/** Keeps the draws of the trades apart from those of the prices. */
const NOISE_STREAM = 0x6e6f6973;

/** The background trades at a step: seed and step alone decide pool, side and dollars. */
export function noise(seed: number, step: number, pools: readonly SandboxPool[], prices: Prices): Trade[] {
  const random = createRandom(seed, step, NOISE_STREAM);
  const count = Math.floor(random.uniform() * (MOST_NOISE_TRADES + 1));
  const trades: Trade[] = [];
  for (let index = 0; index < count; index += 1) {
    const pool = pools[Math.floor(random.uniform() * pools.length)];
    const zeroForOne = random.uniform() < 0.5;
    // Small trades are as common as large ones are rare: even in the logarithm.
    const dollars = LEAST_NOISE_DOLLARS * (MOST_NOISE_DOLLARS / LEAST_NOISE_DOLLARS) ** random.uniform();
    if (pool === undefined) continue;
    const sold = zeroForOne ? pool.token0 : pool.token1;
    const value = BigInt(Math.round(dollars * 10 ** FEED_DECIMALS));
    const amountIn = (value * 10n ** BigInt(TOKENS[sold].decimals)) / prices[sold];
    trades.push({ pool: pool.address, kind: pool.kind, zeroForOne, amountIn });
  }
  return trades;
}
