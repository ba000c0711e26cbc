import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../../../src/domain/money/address.ts";
import { createPoolDirectory } from "../../../../src/service/pools/directory.ts";
import { kindOf } from "../../../../src/service/pools/kinds.ts";
import { identityOf, type Pool } from "../../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot } from "../../../../src/service/pools/snapshots.ts";
import { sqrtRatioAtTick } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import { expectPaidAsQuoted, filledQuote, newTokenFor, randomRanges } from "../../support/curve-trades.ts";
import { createRandomAmounts } from "../../support/random-amounts.ts";
import { systemClock } from "../../support/system-clock.ts";
import { deployUniswapV4, keyOf, soldInV4, type UniswapV4 } from "../../support/uniswap-v4.ts";

const SPACINGS = new Map([
  [100, 1],
  [500, 10],
  [3_000, 60],
  [10_000, 200],
]);
/** What the protocol takes of each direction, by fee: nothing, one of them, both, and the most that it may. */
const PROTOCOL_FEES = new Map<number, readonly [number, number]>([
  [500, [0, 77]],
  [3_000, [1_000, 250]],
  [10_000, [333, 1_000]],
]);

const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandomAmounts(seed);

let chain: TestChain;
let uniswap: UniswapV4;
let snapshot: Snapshot;
let tokens: readonly Address[] = [];
let pools: readonly Pool[] = [];

beforeAll(async () => {
  chain = await startTestChain(["--gas-limit", "300000000"]);
  uniswap = await deployUniswapV4(chain);
  const made: Address[] = [];
  for (const decimals of [18, 6, 8]) made.push(await newTokenFor(chain, uniswap.hand, decimals));
  tokens = made.sort();
  const pairs = tokens.flatMap((a, index) => tokens.slice(index + 1).map((b) => [a, b] as const));
  for (const pair of pairs) for (const fee of SPACINGS.keys()) await makePool(pair, fee);
  // Its tiers are the kind's own: those of the network are for kinds with a factory that is asked for them.
  const directory = createPoolDirectory({ protocols: [uniswap.protocol], feeTiers: [2_500] }, systemClock);
  const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
  snapshot = await snapshots.current();
  snapshots.stop();
  pools = (await Promise.all(pairs.map(([a, b]) => directory.poolsOf(a, b, snapshot.read)))).flat();
}, 120_000);

afterAll(() => chain?.stop());

async function makePool(pair: readonly [Address, Address], fee: number): Promise<void> {
  const spacing = SPACINGS.get(fee)!;
  const key = [...pair, fee, spacing, NATIVE_TOKEN] as const;
  await uniswap.newPool(key, randomRanges(random, spacing));
  const fees = PROTOCOL_FEES.get(fee);
  if (fees !== undefined) await uniswap.setProtocolFee(key, ...fees);
}

describe("pools of Uniswap V4 without hooks", () => {
  test("are found by the usual fees, each with an identity of its own at the manager's one address", () => {
    expect(pools).toHaveLength(3 * SPACINGS.size);
    expect(new Set(pools.map(identityOf)).size).toBe(pools.length);
    for (const { kind, address, feePips, tickSpacing } of pools) {
      expect([kindOf({ kind }).source, address]).toEqual(["uniswap-v4", uniswap.manager]);
      expect(tickSpacing).toBe(SPACINGS.get(feePips));
    }
  });

  test(`pay what was quoted, to the wei, also when another trade has just moved them (seed ${seed})`, async () => {
    const states = (await Promise.all(pools.map((pool) => snapshot.state(pool)))).filter((one) => one !== undefined);
    expect(states).toHaveLength(pools.length);
    const selling = (pool: Pool, up: boolean, amounts: readonly bigint[]) => uniswap.selling(keyOf(pool), up, amounts);
    await expectPaidAsQuoted({ ...{ chain, random, seed, selling }, soldOf: soldInV4 }, states, SPACINGS.keys());
  }, 180_000);

  test(`cost the gas that was expected, but for what the trader himself does (seed ${seed})`, async () => {
    const traded = pools.filter(({ feePips }) => feePips >= 500);
    const warm: Pool[] = [];
    for (const pool of traded) {
      const trades = [true, false].map((up) => chain.send(uniswap.selling(keyOf(pool), up, [10n ** 13n])));
      const done = await Promise.allSettled(trades);
      if (done.every(({ status }) => status === "fulfilled")) warm.push(pool);
    }
    const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
    const after = await snapshots.current();
    snapshots.stop();
    const differences: number[] = [];
    for (let count = 0; count < 300 && differences.length < 60; count += 1) {
      const state = (await after.state(warm[count % warm.length]!))!;
      const zeroForOne = random.integer(0, 1) === 0;
      const amount = random.magnitude(8, 22);
      const quote = await filledQuote(state, zeroForOne ? state.pool.token0 : state.pool.token1, amount);
      if (quote === undefined) continue;
      const fields = {
        from: chain.deployer,
        gas: "0x5f5e100",
        ...uniswap.selling(keyOf(state.pool), zeroForOne, [amount]),
      };
      const traced = await chain.rpc.call("debug_traceCall", [fields, "latest", { tracer: "callTracer" }]);
      differences.push(Number((traced as { gasUsed: Hex }).gasUsed) - Number(quote.gas));
    }
    differences.sort((one, other) => one - other);
    const middle = differences[differences.length >> 1]!;
    const near = differences.filter((one) => Math.abs(one - middle) < 1_500);
    // The rest are first fees of a pool in a token, which fill a slot: a third of the trades where the pools fall so.
    expect(near.length, differences.join()).toBeGreaterThan(differences.length * 0.5);
  }, 60_000);
});

test("the manager takes as much as it can count in signed numbers of 128 bits, and more is no quote", async () => {
  const [token0, token1] = [
    await newTokenFor(chain, uniswap.hand, 18),
    await newTokenFor(chain, uniswap.hand, 18),
  ].sort() as [Address, Address];
  const key = [token0, token1, 10_000, 200, NATIVE_TOKEN] as const;
  const positions = [{ lower: -887_200, upper: 887_200, liquidity: 10n ** 34n }];
  await uniswap.newPool(key, { sqrtPrice: sqrtRatioAtTick(0), positions });
  const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
  const { read, state } = await snapshots.current();
  snapshots.stop();
  const directory = createPoolDirectory({ protocols: [uniswap.protocol], feeTiers: [] }, systemClock);
  const [pool] = await directory.poolsOf(token0, token1, read);
  const most = (1n << 127n) - 1n;
  const whole = (await state(pool!))!;
  expect(whole.quote(token0, most + 1n)).toEqual({ kind: "short" });
  const quote = await filledQuote(whole, token0, most);
  const sold = soldInV4(await chain.call(uniswap.selling(key, true, [most])));
  expect(sold).toEqual({ taken: [most], paid: [quote?.amountOut] });
});

test("a pool with a hook, of another spacing, or that nobody opened is no pool; one of the native coin is the wrapped token's", async () => {
  const [token0, token1] = [
    await newTokenFor(chain, uniswap.hand, 18),
    await newTokenFor(chain, uniswap.hand, 18),
  ].sort() as [Address, Address];
  const at = { sqrtPrice: sqrtRatioAtTick(0), positions: [] };
  // By its lowest bits the hook is called before each swap.
  const hook = toAddress("0x0000000000000000000000000000000000000080");
  for (const [fee, spacing] of SPACINGS) await uniswap.newPool([token0, token1, fee, spacing, hook], at);
  await uniswap.newPool([token0, token1, 500, 60, NATIVE_TOKEN], at);
  await uniswap.newPool([NATIVE_TOKEN, token1, 500, 10, NATIVE_TOKEN], at);
  const directory = (wrappedNative?: Address) => {
    return createPoolDirectory({ protocols: [uniswap.protocol], feeTiers: [500], wrappedNative }, systemClock);
  };
  const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
  const { read } = await snapshots.current();
  expect(await directory().poolsOf(token0, token1, read)).toEqual([]);
  // Were token0 the wrapped form of the coin, that pool would be one of it, also where the other one has the lower address.
  const wrapped = toAddress("0xffffffffffffffffffffffffffffffffffffffff");
  expect(await directory(wrapped).poolsOf(token0, token1, read)).toEqual([]);
  for (const coin of [token0, wrapped]) {
    const [pool, ...others] = await directory(coin).poolsOf(coin, token1, read);
    expect([pool?.token0, pool?.token1, pool?.feePips, others]).toEqual([coin, token1, 500, []]);
    expect(keyOf(pool!)).toEqual([NATIVE_TOKEN, token1, 500, 10, NATIVE_TOKEN]);
  }
  snapshots.stop();
  await uniswap.newPool([token0, token1, 500, 10, NATIVE_TOKEN], at);
  const later = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
  expect(await directory().poolsOf(token0, token1, (await later.current()).read)).toHaveLength(1);
  later.stop();
});
