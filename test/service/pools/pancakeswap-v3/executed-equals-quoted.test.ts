import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Address } from "../../../../src/domain/money/address.ts";
import { createPoolDirectory } from "../../../../src/service/pools/directory.ts";
import { kindOf } from "../../../../src/service/pools/kinds.ts";
import type { Pool } from "../../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot } from "../../../../src/service/pools/snapshots.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import { expectPaidAsQuoted, newTokenFor, randomRanges } from "../../support/curve-trades.ts";
import { deployPancake, PACKAGED_POOL_CODE_HASH, type Pancake, POOL_CODE_HASH, soldOf } from "../../support/pancake.ts";
import { createRandomAmounts } from "../../support/random-amounts.ts";
import { systemClock } from "../../support/system-clock.ts";

const SPACINGS = new Map([
  [100, 1],
  [500, 10],
  [2_500, 50],
  [10_000, 200],
]);

const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandomAmounts(seed);

let chain: TestChain;
let pancake: Pancake;
let snapshot: Snapshot;
let pools: readonly Pool[] = [];

beforeAll(async () => {
  chain = await startTestChain(["--gas-limit", "300000000"]);
  pancake = await deployPancake(chain);
  const tokens: Address[] = [];
  for (const decimals of [18, 6, 8]) tokens.push(await newTokenFor(chain, pancake.hand, decimals));
  const pairs = tokens.flatMap((a, index) => tokens.slice(index + 1).map((b) => [a, b] as const));
  for (const pair of pairs) for (const fee of SPACINGS.keys()) await makePool(pair, fee);
  // Its tiers are the kind's own: those of the network are Uniswap's.
  const directory = createPoolDirectory({ protocols: pancake.protocols, feeTiers: [500, 3_000] }, systemClock);
  snapshot = await createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock).current();
  pools = (await Promise.all(pairs.map(([a, b]) => directory.poolsOf(a, b, snapshot.read)))).flat();
}, 120_000);

afterAll(() => chain?.stop());

async function makePool(tokens: readonly [Address, Address], fee: number): Promise<void> {
  await pancake.newPool(tokens, { fee, ...randomRanges(random, SPACINGS.get(fee)!) });
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
    const selling = (pool: Pool, up: boolean, amounts: readonly bigint[]) => pancake.selling(pool.address, up, amounts);
    await expectPaidAsQuoted({ chain, random, seed, selling, soldOf }, states, SPACINGS.keys());
  }, 180_000);
});
