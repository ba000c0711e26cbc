import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RpcError } from "../../../../src/chain/json-rpc.ts";
import type { Address, Hex } from "../../../../src/domain/money/address.ts";
import { loadContract } from "../../../../src/sandbox/artifacts.ts";
import { createPoolDirectory } from "../../../../src/service/pools/directory.ts";
import { kindOf } from "../../../../src/service/pools/kinds.ts";
import type { Pool, PoolQuote, PoolState } from "../../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot } from "../../../../src/service/pools/snapshots.ts";
import { sqrtRatioAtTick } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import { deployPancake, PACKAGED_POOL_CODE_HASH, type Pancake, POOL_CODE_HASH, soldOf } from "../../support/pancake.ts";
import { createRandomAmounts } from "../../support/random-amounts.ts";
import { systemClock } from "../../support/system-clock.ts";

/** `npm run test:quoted` compares more. */
const QUOTES = process.env.SWAPD_QUOTED_SWAPS === undefined ? 400 : 2_400;
const SPACINGS = new Map([
  [100, 1],
  [500, 10],
  [2_500, 50],
  [10_000, 200],
]);
const MAX_LOADS = 6;

const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandomAmounts(seed);
const TOKEN = loadContract("PermitToken");

let chain: TestChain;
let pancake: Pancake;
let snapshot: Snapshot;
let pools: readonly Pool[] = [];

beforeAll(async () => {
  chain = await startTestChain(["--gas-limit", "300000000"]);
  pancake = await deployPancake(chain);
  const tokens: Address[] = [];
  for (const decimals of [18, 6, 8]) tokens.push(await newToken(decimals));
  const pairs = tokens.flatMap((a, index) => tokens.slice(index + 1).map((b) => [a, b] as const));
  for (const pair of pairs) for (const fee of SPACINGS.keys()) await makePool(pair, fee);
  // Its tiers are the kind's own: those of the network are Uniswap's.
  const directory = createPoolDirectory({ protocols: pancake.protocols, feeTiers: [500, 3_000] }, systemClock);
  snapshot = await createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock).current();
  pools = (await Promise.all(pairs.map(([a, b]) => directory.poolsOf(a, b, snapshot.read)))).flat();
}, 120_000);

afterAll(() => chain?.stop());

async function newToken(decimals: number): Promise<Address> {
  const token = await chain.deploy(TOKEN, ["a token", "TKN", decimals]);
  const call = (method: string, values: unknown[]) => TOKEN.abi.encodeFunctionData(method, values) as Hex;
  await chain.send({ to: token, data: call("mint", [chain.deployer, 10n ** 40n]) });
  await chain.send({ to: token, data: call("approve", [pancake.hand, (1n << 256n) - 1n]) });
  return token;
}

/** A pool with some positions around a price that is no tick's. */
async function makePool(tokens: readonly [Address, Address], fee: number): Promise<void> {
  const spacing = SPACINGS.get(fee)!;
  const tick = random.integer(-200_000, 200_000);
  const center = Math.floor(tick / spacing) * spacing;
  const positions = Array.from({ length: random.integer(2, 6) }, () => {
    const lower = Math.max(center + spacing * random.integer(-300, 200), -887_200);
    return {
      lower,
      upper: Math.min(lower + spacing * random.integer(1, 400), 887_200),
      liquidity: random.magnitude(8, 22),
    };
  });
  const sqrtPrice = sqrtRatioAtTick(tick) + BigInt(random.integer(0, 20_000));
  await pancake.newPool(tokens, { fee, sqrtPrice, positions });
}

async function filled(state: PoolState, tokenIn: Address, amountIn: bigint) {
  for (let loads = 0; loads <= MAX_LOADS; loads += 1) {
    const quote: PoolQuote = state.quote(tokenIn, amountIn);
    if (quote.kind !== "unread") return quote.kind === "filled" ? quote : undefined;
    await quote.load();
  }
  return undefined;
}

interface Trade {
  readonly pool: Pool;
  readonly zeroForOne: boolean;
  readonly amounts: readonly bigint[];
  readonly quoted: readonly bigint[];
}

/** Quotes one or two trades after each other, where the pool takes them. */
async function quoteTrade(state: PoolState, parts: number): Promise<Trade | undefined> {
  const zeroForOne = random.integer(0, 1) === 0;
  const tokenIn = zeroForOne ? state.pool.token0 : state.pool.token1;
  const [amounts, quoted]: [bigint[], bigint[]] = [[], []];
  let at = state;
  for (let part = 0; part < parts; part += 1) {
    const amountIn = random.magnitude(3, 25);
    const quote = await filled(at, tokenIn, amountIn);
    if (quote === undefined) return undefined;
    amounts.push(amountIn);
    quoted.push(quote.amountOut);
    at = quote.after;
  }
  return { pool: state.pool, zeroForOne, amounts, quoted };
}

async function compare(trades: readonly Trade[]): Promise<void> {
  const requests = trades.map(({ pool, zeroForOne, amounts }) => {
    const fields = { from: chain.deployer, ...pancake.selling(pool.address, zeroForOne, amounts) };
    return { method: "eth_call", params: [fields, "latest"] };
  });
  for (const [index, answer] of (await chain.rpc.batch(requests)).entries()) {
    const { pool, zeroForOne, amounts, quoted } = trades[index]!;
    const context = `${amounts.join(" and ")} ${zeroForOne ? "up" : "down"} in the pool of ${pool.feePips}, seed ${seed}`;
    if (answer instanceof RpcError) throw new Error(`quoted but not executable: ${context}: ${answer.message}`);
    expect(soldOf(answer as Hex), context).toEqual({ taken: amounts, paid: quoted });
  }
}

describe("pools of PancakeSwap V3", () => {
  test("have the code by which PancakeSwap's router computes their addresses on every network", () => {
    expect(PACKAGED_POOL_CODE_HASH).toBe(POOL_CODE_HASH);
  });

  test("are found in each of its tiers, with their spacing", () => {
    expect(pools.map(({ feePips, tickSpacing }) => [feePips, tickSpacing])).toEqual(
      expect.arrayContaining([...SPACINGS].map((one) => [...one])),
    );
    expect(pools).toHaveLength(3 * SPACINGS.size);
    for (const pool of pools) expect(kindOf(pool).source).toBe("pancakeswap-v3");
  });

  test(`pay what was quoted, to the wei, also when another trade has just moved them (seed ${seed})`, async () => {
    const states = (await Promise.all(pools.map((pool) => snapshot.state(pool)))).filter((one) => one !== undefined);
    expect(states).toHaveLength(pools.length);
    const counts = new Map<string, number>();
    let compared = 0;
    for (let round = 0; compared < QUOTES && round < 100; round += 1) {
      const trades: Trade[] = [];
      for (let count = 0; count < 200; count += 1) {
        const state = states[random.integer(0, states.length - 1)]!;
        const trade = await quoteTrade(state, random.integer(1, 2));
        if (trade === undefined) continue;
        trades.push(trade);
        const key = `${trade.pool.feePips} ${trade.zeroForOne}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      await compare(trades);
      compared += trades.length;
    }
    expect(compared).toBeGreaterThanOrEqual(QUOTES);
    for (const fee of SPACINGS.keys())
      for (const up of [true, false]) expect(counts.get(`${fee} ${up}`) ?? 0, `${fee} ${up}`).toBeGreaterThan(5);
  }, 180_000);
});
