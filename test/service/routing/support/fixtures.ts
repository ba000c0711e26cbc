import { type Address, toAddress } from "../../../../src/domain/money/address.ts";
import { createRandom } from "../../../../src/sandbox/market/random.ts";
import type { Pool, PoolState } from "../../../../src/service/pools/pool.ts";
import { stablePoolState } from "../../../../src/service/pools/stable/stable-pool.ts";
import { pairState } from "../../../../src/service/pools/uniswap-v2/pair.ts";
import { concentratedPoolState } from "../../../../src/service/pools/uniswap-v3/concentrated-pool.ts";
import { sqrtRatioAtTick, tickAtSqrtRatio } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { arbitrage } from "./dual-bound.ts";

/** A token of a fixture; `dollars` is what all pools agree on once they are arbitraged. */
export interface FixtureToken {
  readonly symbol: string;
  readonly address: Address;
  readonly decimals: number;
  readonly dollars: number;
}

/** Pools at one moment, with no profit left in any circle of them. */
export interface Fixture {
  readonly name: string;
  readonly tokens: Readonly<Record<string, FixtureToken>>;
  readonly states: readonly PoolState[];
}

type PoolPlan = readonly [pair: string, fee: number | "v2" | "stable", millions: number];

const SPACING: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10000: 200 };
const PROTOCOL: Readonly<Record<string, number>> = { v2: 0, stable: 2 };
const MILLION = 1e6;
/** How far pools are off before they are arbitraged: more than the fee of most. */
const DISORDER = 0.01;

function tokensOf(prices: Readonly<Record<string, readonly [decimals: number, dollars: number]>>) {
  return Object.fromEntries(
    Object.entries(prices).map(([symbol, [decimals, dollars]], index) => {
      // Addresses in no particular order, so that every pair meets both directions.
      const address = toAddress(`0x${((index * 7 + 3) % 16).toString(16)}${"a".repeat(39)}`);
      return [symbol, { symbol, address, decimals, dollars }];
    }),
  );
}

const MAJORS = { WETH: [18, 3000], USDC: [6, 1], DAI: [18, 1], WBTC: [8, 60_000], USDT: [6, 1] } as const;

/** About what the five tokens have on a large network. */
const DEEP: readonly PoolPlan[] = [
  ["WETH/USDC", "v2", 100],
  ["WETH/USDT", "v2", 80],
  ["WETH/DAI", "v2", 20],
  ["WBTC/WETH", "v2", 30],
  ["USDC/USDT", "v2", 5],
  ["DAI/USDC", "v2", 5],
  ["WBTC/USDC", "v2", 3],
  ["WETH/USDC", 100, 10],
  ["WETH/USDC", 500, 200],
  ["WETH/USDC", 3000, 100],
  ["WETH/USDC", 10000, 5],
  ["WETH/USDT", 500, 100],
  ["WETH/USDT", 3000, 80],
  ["WETH/DAI", 500, 5],
  ["WETH/DAI", 3000, 20],
  ["WBTC/WETH", 500, 120],
  ["WBTC/WETH", 3000, 200],
  ["WBTC/USDC", 500, 15],
  ["WBTC/USDC", 3000, 40],
  ["WBTC/USDT", 3000, 25],
  ["USDC/USDT", 100, 60],
  ["USDC/DAI", 100, 80],
  ["DAI/USDT", 100, 10],
];

/** The pools of the sandbox, thin for what is traded. */
const SANDBOX: readonly PoolPlan[] = [
  ["WETH/USDC", "v2", 40],
  ["WETH/DAI", "v2", 20],
  ["WETH/USDT", "v2", 30],
  ["WBTC/WETH", "v2", 30],
  ["WETH/USDC", 500, 60],
  ["WETH/USDC", 3000, 40],
  ["WETH/DAI", 3000, 20],
  ["WBTC/USDC", 3000, 40],
  ["USDC/DAI", 100, 30],
  ["USDC/USDT", 100, 50],
];

/** Dollars that meet in stable pools of several fees and amplifications, alongside pools of the other kinds. */
const STABLE: readonly PoolPlan[] = [
  ["USDC/USDT", "stable", 40],
  ["DAI/USDC", "stable", 25],
  ["DAI/USDC", "stable", 3],
  ["DAI/USDT", "stable", 10],
  ...DEEP,
];

/** Two tokens that meet nowhere: every path goes over one or two of the others. */
const FAR: readonly PoolPlan[] = [
  ["LINK/WETH", "v2", 30],
  ["LINK/WETH", 3000, 60],
  ["LINK/USDC", 3000, 15],
  ["UNI/USDC", 3000, 20],
  ["UNI/WETH", "v2", 20],
  ["UNI/WBTC", 3000, 25],
  ["UNI/USDT", 3000, 30],
  ...DEEP,
];

/** The fixtures of the certificate, each with its own disorder before it is arbitraged. */
export function fixtures(): readonly Fixture[] {
  return [
    fixture("deep", MAJORS, DEEP, 1),
    fixture("sandbox", MAJORS, SANDBOX, 2),
    fixture("far", { ...MAJORS, LINK: [18, 15], UNI: [18, 8] }, FAR, 3),
    fixture("stable", MAJORS, STABLE, 4),
  ];
}

function fixture(
  name: string,
  prices: Readonly<Record<string, readonly [number, number]>>,
  plans: readonly PoolPlan[],
  seed: number,
): Fixture {
  const tokens = tokensOf(prices);
  const disordered = plans.map((plan, index) => buildPool(tokens, plan, { index, seed }));
  const values = new Map(
    Object.values(tokens).map(({ address, decimals, dollars }) => [address, dollars / 10 ** decimals]),
  );
  return { name, tokens, states: arbitrage(disordered, { values, worth: 100_000 }) };
}

function buildPool(
  tokens: Readonly<Record<string, FixtureToken>>,
  [pair, fee, millions]: PoolPlan,
  at: { readonly index: number; readonly seed: number },
): PoolState {
  const random = createRandom(at.seed, at.index, 0x706f6f6c);
  const [a, b] = pair.split("/").map((symbol) => tokens[symbol]!) as [FixtureToken, FixtureToken];
  const [token0, token1] = a.address < b.address ? [a, b] : [b, a];
  const address = toAddress(`0x${(at.seed * 1_000 + at.index + 1).toString(16).padStart(40, "0")}`);
  const common = { address, token0: token0.address, token1: token1.address, protocol: PROTOCOL[fee] ?? 1 };
  const unit = (token: FixtureToken) => token.dollars / 10 ** token.decimals;
  const disorder = 1 + DISORDER * (2 * random.uniform() - 1);
  const price = (unit(token0) / unit(token1)) * disorder;
  if (fee === "v2") {
    const pool: Pool = { kind: 1, ...common, feePips: 3000, tickSpacing: 0 };
    const reserve0 = (millions * MILLION) / 2 / unit(token0);
    return pairState(pool, BigInt(Math.round(reserve0)), BigInt(Math.round(reserve0 * price)));
  }
  if (fee === "stable") {
    const uniform = () => random.uniform();
    return stableOf(
      { kind: 3, ...common, feePips: 0, tickSpacing: 0 },
      { tokens: [token0, token1], millions, uniform },
    );
  }
  const spacing = SPACING[fee]!;
  const pool: Pool = { kind: 2, ...common, feePips: fee, tickSpacing: spacing };
  const isStable = a.dollars === b.dollars;
  const value1 = (millions * MILLION) / unit(token1);
  return curveOf(pool, { price, value1, isStable, uniform: () => random.uniform() });
}

/** Parts of 1e10, in which stable pools report fees, to a part in a million. */
const STABLE_FEE_PER_PIP = 1e4;

/** One side holds up to twice as much as the other, as pools in use do; the fee is rarely a whole number of pips. */
function stableOf(
  pool: Pool,
  plan: { tokens: readonly [FixtureToken, FixtureToken]; millions: number; uniform: () => number },
): PoolState {
  const [token0, token1] = plan.tokens;
  const fee = Math.round((100 + 300 * plan.uniform()) * STABLE_FEE_PER_PIP);
  const share0 = (1 + plan.uniform()) / 3;
  const units = (token: FixtureToken, share: number) =>
    BigInt(Math.round(plan.millions * MILLION * share * 1e3)) * 10n ** BigInt(token.decimals - 3);
  const balances = {
    balance0: units(token0, share0),
    balance1: units(token1, 1 - share0),
    amplification: BigInt(Math.round(100 + 1_900 * plan.uniform())) * 100n,
    fee: BigInt(fee),
    adminFee: 5_000_000_000n,
  };
  const rate = (token: FixtureToken) => 10n ** BigInt(36 - token.decimals);
  const feePips = Math.floor(fee / STABLE_FEE_PER_PIP);
  return stablePoolState({ ...pool, feePips }, balances, { rate0: rate(token0), rate1: rate(token1) });
}

/** Liquidity as pools have it: some over all prices, more near the price, and many small ranges around it. */
function curveOf(
  pool: Pool,
  plan: { price: number; value1: number; isStable: boolean; uniform: () => number },
): PoolState {
  const { price, uniform } = plan;
  const tick = Math.floor(Math.log(price) / Math.log(1.0001));
  const reach = plan.isStable ? 1 / 20 : 1;
  const ranges = [
    { below: 9_000 * reach, above: 9_000 * reach, share: 0.4 },
    { below: 1_500 * reach, above: 1_500 * reach, share: 0.3 },
    ...Array.from({ length: 14 }, () => {
      const centre = (2 * uniform() - 1) * 500 * reach;
      const half = (20 + uniform() * 200) * reach;
      return { below: half - centre, above: half + centre, share: 0.3 / 14 };
    }),
  ];
  const nets = new Map<number, bigint>();
  let active = 0n;
  for (const { below, above, share } of ranges) {
    const lower = Math.floor((tick - below) / pool.tickSpacing) * pool.tickSpacing;
    const upper = Math.max(Math.ceil((tick + above) / pool.tickSpacing) * pool.tickSpacing, lower + pool.tickSpacing);
    // Value of a range around the price, in token 1: L sqrt(P) (2 - 1.0001^(-above/2) - 1.0001^(-below/2)), about.
    const width = 2 - 1.0001 ** (-(upper - lower) / 4) * 2;
    const liquidity = BigInt(Math.round((plan.value1 * share) / Math.sqrt(price) / width));
    nets.set(lower, (nets.get(lower) ?? 0n) + liquidity);
    nets.set(upper, (nets.get(upper) ?? 0n) - liquidity);
    if (lower <= tick && tick < upper) active += liquidity;
  }
  const words = new Map<number, bigint>();
  const wordAt = (at: number) => Math.floor(at / pool.tickSpacing) >> 8;
  for (const at of nets.keys()) {
    const bit = 1n << BigInt(Math.floor(at / pool.tickSpacing) & 255);
    words.set(wordAt(at), (words.get(wordAt(at)) ?? 0n) | bit);
  }
  const [first, last] = [Math.min(...words.keys()) - 1, Math.max(...words.keys()) + 1];
  for (let at = first; at <= last; at += 1) {
    words.set(at, words.get(at) ?? 0n);
  }
  const sqrtPrice = sqrtRatioAtTick(tick) + 1n;
  const curve = { price: sqrtPrice, tick: tickAtSqrtRatio(sqrtPrice), liquidity: active, words, nets };
  // Beyond the outermost ticks nothing was read, as in the service; there is nothing either.
  return concentratedPoolState(pool, curve, async (position, down) => {
    for (let far = 0; far < 64; far += 1) words.set(position + (down ? -far : far), 0n);
  });
}
