import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Address } from "../../../../src/domain/money/address.ts";
import { createPoolDirectory } from "../../../../src/service/pools/directory.ts";
import { kindOf } from "../../../../src/service/pools/kinds.ts";
import { type Pool, sortTokens } from "../../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot } from "../../../../src/service/pools/snapshots.ts";
import { sqrtRatioAtTick } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import {
  expectPaidAsQuoted,
  filledQuote,
  newTokenFor,
  randomRanges,
  snapshotAtHead,
} from "../../support/curve-trades.ts";
import { createRandomAmounts } from "../../support/random-amounts.ts";
import { deploySlipstream, type Slipstream, soldOf } from "../../support/slipstream.ts";
import { systemClock } from "../../support/system-clock.ts";

/** The spacings that factories begin with, and one that is added later. */
const SPACINGS = [1, 50, 100, 200, 2_000, 10];
/** What a module says of their pools, and what is taken then: what nobody set is the spacing's own. */
const SET = new Map([
  [1, 77],
  [50, 0],
  [200, 100_000],
  [10, 2_345],
]);
const FEES = new Map([...SET, [100, 500], [2_000, 10_000]]);

const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandomAmounts(seed);

let chain: TestChain;
let exchange: Slipstream;
let snapshot: Snapshot;
let tokens: readonly Address[] = [];
let pools: readonly Pool[] = [];

const atHead = (): Promise<Snapshot> => snapshotAtHead(chain);

function found(tokenA: Address, tokenB: Address, at: Snapshot): Promise<readonly Pool[]> {
  // Spacings are the factory's own: the fee tiers of the network are for kinds that are asked for them.
  const directory = createPoolDirectory({ protocols: [exchange.protocol], feeTiers: [500, 3_000] }, systemClock);
  return directory.poolsOf(tokenA, tokenB, at.read);
}

beforeAll(async () => {
  chain = await startTestChain(["--gas-limit", "300000000"]);
  exchange = await deploySlipstream(chain);
  await exchange.enableSpacing(10, 2_500);
  const made: Address[] = [];
  for (const decimals of [18, 6, 8]) made.push(await newTokenFor(chain, exchange.hand, decimals));
  tokens = made.sort();
  const pairs = tokens.flatMap((a, index) => tokens.slice(index + 1).map((b) => [a, b] as const));
  for (const pair of pairs) {
    for (const spacing of SPACINGS) {
      const pool = await exchange.newPool(pair, { spacing, ...randomRanges(random, spacing) });
      const base = SET.get(spacing);
      if (base !== undefined) await exchange.setFee(pool, { base, growth: 0, most: 100_000 });
    }
  }
  snapshot = await atHead();
  pools = (await Promise.all(pairs.map(([a, b]) => found(a, b, snapshot)))).flat();
}, 120_000);

afterAll(() => chain?.stop());

/** A pool of two tokens of its own at the price of one, with one wide position. */
async function widePool(): Promise<{ readonly pair: readonly [Address, Address]; readonly address: Address }> {
  const one = await newTokenFor(chain, exchange.hand, 18);
  const pair = sortTokens(one, await newTokenFor(chain, exchange.hand, 18));
  const positions = [{ lower: -6_000, upper: 6_000, liquidity: 10n ** 24n }];
  const address = await exchange.newPool(pair, { spacing: 200, sqrtPrice: sqrtRatioAtTick(0), positions });
  return { pair, address };
}

async function stateOf([tokenA, tokenB]: readonly [Address, Address]) {
  const at = await atHead();
  const [pool] = await found(tokenA, tokenB, at);
  return (await at.state(pool!))!;
}

describe("pools of Slipstream", () => {
  test("are found by the spacings that the factory itself names, also those that were added", () => {
    expect(pools).toHaveLength(3 * SPACINGS.length);
    expect(new Set(pools.map(({ tickSpacing }) => tickSpacing))).toEqual(new Set(SPACINGS));
    for (const pool of pools) expect([kindOf(pool).source, pool.feePips]).toEqual(["slipstream", 0]);
  });

  test("take what the factory's module says, or what the factory has for their spacing", async () => {
    for (const pool of pools) {
      const state = await snapshot.state(pool);
      expect([pool.tickSpacing, state?.pool.feePips]).toEqual([pool.tickSpacing, FEES.get(pool.tickSpacing)]);
    }
  });

  test(`pay what was quoted, to the wei, also when another trade has just moved them (seed ${seed})`, async () => {
    const states = (await Promise.all(pools.map((pool) => snapshot.state(pool)))).filter((one) => one !== undefined);
    expect(states).toHaveLength(pools.length);
    const selling = (pool: Pool, up: boolean, amounts: readonly bigint[]) =>
      exchange.selling(pool.address, up, amounts);
    await expectPaidAsQuoted({ chain, random, seed, selling, soldOf }, states, FEES.values());
  }, 180_000);
});

describe("the fee of a pool", () => {
  test("is read anew in each block, though no liquidity moved and nobody traded", async () => {
    const { pair, address } = await widePool();
    const amounts = [10n ** 21n];
    const sold = async () => soldOf(await chain.call(exchange.selling(address, true, amounts))).paid;
    const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
    const quoted = async () => {
      const at = await snapshots.current();
      const [pool] = await found(...pair, at);
      return [(await filledQuote((await at.state(pool!))!, pair[0], amounts[0]!))?.amountOut];
    };
    const before = await quoted();
    expect(before).toEqual(await sold());
    await exchange.setFee(address, { base: 12_345, growth: 0, most: 100_000 });
    await expect.poll(quoted).not.toEqual(before);
    expect(await quoted()).toEqual(await sold());
    snapshots.stop();
  });

  test("that a module has above the most, or that it cannot say, is the spacing's", async () => {
    const { pair, address } = await widePool();
    await exchange.setFee(address, { base: 100_001, growth: 0, most: 200_000 });
    expect((await stateOf(pair)).pool.feePips).toBe(3_000);
    const broken = await deploySlipstream(chain);
    await broken.setModule(tokens[0]!);
    const other = await broken.newPool(pair, { spacing: 50, sqrtPrice: sqrtRatioAtTick(0), positions: [] });
    expect(other).not.toBe(address);
    const at = await atHead();
    const directory = createPoolDirectory({ protocols: [broken.protocol], feeTiers: [] }, systemClock);
    const [pool] = await directory.poolsOf(...pair, at.read);
    expect((await at.state(pool!))?.pool.feePips).toBe(500);
  });

  test("that grows with the price is known of the first trade alone, so that no route meets the pool twice", async () => {
    const { pair, address } = await widePool();
    await exchange.setFee(address, { base: 400, growth: 1_000, most: 50_000 });
    const state = await stateOf(pair);
    const amounts = [3n * 10n ** 22n, 3n * 10n ** 22n];
    const [first, second] = soldOf(await chain.call(exchange.selling(address, true, amounts))).paid;
    const quote = await filledQuote(state, pair[0], amounts[0]!);
    expect(quote?.amountOut).toBe(first);
    expect((await filledQuote(quote!.after, pair[0], amounts[1]!))?.amountOut).toBeGreaterThan(second!);
    expect(kindOf(state.pool).feeMoves).toBe(true);
  });
});

test("a factory that answers nothing, or has no pool of two tokens, has none", async () => {
  const at = await atHead();
  const nobody = { ...exchange.protocol, factory: tokens[0]! };
  const directory = createPoolDirectory({ protocols: [nobody], feeTiers: [] }, systemClock);
  expect(await directory.poolsOf(tokens[0]!, tokens[1]!, at.read)).toEqual([]);
  expect(await found(tokens[0]!, exchange.hand, at)).toEqual([]);
});
