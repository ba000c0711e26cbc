import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RpcError } from "../../../../src/chain/json-rpc.ts";
import type { Address, Hex } from "../../../../src/domain/money/address.ts";
import { createPoolDirectory } from "../../../../src/service/pools/directory.ts";
import { kindOf } from "../../../../src/service/pools/kinds.ts";
import { type Pool, sortTokens } from "../../../../src/service/pools/pool.ts";
import type { Snapshot } from "../../../../src/service/pools/snapshots.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import { expectPaidAsQuoted, filledQuote, newTokenFor, snapshotAtHead } from "../../support/curve-trades.ts";
import { createRandomAmounts } from "../../support/random-amounts.ts";
import { deploySolidly, type Solidly, soldOf } from "../../support/solidly.ts";
import { systemClock } from "../../support/system-clock.ts";

/** In parts of 10,000; what nobody set is the factory's for its sort, and 420 says that nothing is taken. */
const SET_FEES = [undefined, 1, 300, 420];
const PIPS = new Set([500, 3_000, 100, 30_000, 0]);

const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandomAmounts(seed);

let chain: TestChain;
let exchange: Solidly;
let snapshot: Snapshot;
let pools: readonly Pool[] = [];

const atHead = (): Promise<Snapshot> => snapshotAtHead(chain);

function found(tokenA: Address, tokenB: Address, at: Snapshot): Promise<readonly Pool[]> {
  const directory = createPoolDirectory({ protocols: [exchange.protocol], feeTiers: [500, 3_000] }, systemClock);
  return directory.poolsOf(tokenA, tokenB, at.read);
}

/** Two tokens with so many decimals, in the order of their addresses, and what whole coins of them are. */
async function newPair(decimalsA: number, decimalsB: number) {
  const made = new Map<Address, bigint>();
  for (const decimals of [decimalsA, decimalsB])
    made.set(await newTokenFor(chain, exchange.hand, decimals), 10n ** BigInt(decimals));
  const [tokenA, tokenB] = [...made.keys()] as [Address, Address];
  const pair = sortTokens(tokenA, tokenB);
  return { pair, units: pair.map((token) => made.get(token)!) as [bigint, bigint] };
}

beforeAll(async () => {
  chain = await startTestChain(["--gas-limit", "300000000"]);
  exchange = await deploySolidly(chain);
  const pairs: (readonly [Address, Address])[] = [];
  for (const [one, other] of [
    [18, 18],
    [6, 18],
    [8, 6],
    [0, 18],
  ] as const) {
    for (const fee of SET_FEES) {
      const { pair, units } = await newPair(one, other);
      pairs.push(pair);
      // Below some thousand coins there are amounts that are not quoted, since versions of the pools differ by one there.
      const coins = random.magnitude(6, 10);
      const tilted = (coins * BigInt(random.integer(1, 10_000))) / 5_000n + 1n;
      const ofAnyWorth = await exchange.newPool(pair, false, [random.magnitude(4, 24), random.magnitude(4, 24)]);
      const ofTheSame = await exchange.newPool(pair, true, [coins * units[0], tilted * units[1]]);
      if (fee === undefined) continue;
      for (const pool of [ofAnyWorth, ofTheSame]) await exchange.setFee(pool, fee);
    }
  }
  snapshot = await atHead();
  pools = (await Promise.all(pairs.map(([a, b]) => found(a, b, snapshot)))).flat();
}, 120_000);

afterAll(() => chain?.stop());

const selling = (pool: Pool, up: boolean, amounts: readonly bigint[]) => exchange.selling(pool.address, up, amounts);

async function statesOf() {
  return (await Promise.all(pools.map((pool) => snapshot.state(pool)))).filter((one) => one !== undefined);
}

describe("pools of Solidly", () => {
  test("are two of each two tokens: one of any worth, and one of about the same", () => {
    expect(pools).toHaveLength(4 * SET_FEES.length * 2);
    expect(pools.filter(({ constants }) => constants !== undefined)).toHaveLength(4 * SET_FEES.length);
    for (const pool of pools) expect([kindOf(pool).source, pool.feePips]).toEqual(["solidly", 0]);
  });

  test(`pay what was quoted, to the wei, also when another trade has just moved them (seed ${seed})`, async () => {
    const states = await statesOf();
    expect(states).toHaveLength(pools.length);
    await expectPaidAsQuoted({ chain, random, seed, selling, soldOf }, states, PIPS);
  }, 180_000);

  test(`take nothing that is not quoted (seed ${seed})`, async () => {
    const asked = (await statesOf()).flatMap((state) =>
      [true, false].flatMap((up) => {
        const amountIn = random.magnitude(1, 28);
        const quote = state.quote(up ? state.pool.token0 : state.pool.token1, amountIn);
        return quote.kind === "filled" ? [] : [selling(state.pool, up, [amountIn])];
      }),
    );
    // By chance, some ten to twenty of the sixty-four.
    expect(asked.length).toBeGreaterThan(0);
    const requests = asked.map((call) => {
      return { method: "eth_call", params: [{ from: chain.deployer, ...call }, "latest"] };
    });
    for (const answer of await chain.rpc.batch(requests))
      if (!(answer instanceof RpcError)) expect(soldOf(answer as Hex).paid).toEqual([0n]);
  });
});

describe("a pool's factory", () => {
  async function quoted(pair: readonly [Address, Address], isStable: boolean) {
    const at = await atHead();
    const pool = (await found(...pair, at)).find(({ constants }) => (constants !== undefined) === isStable);
    const state = await at.state(pool!);
    return state && [(await filledQuote(state, pair[0], 10n ** 18n))?.amountOut];
  }

  test("may say another fee in each block, which is read with the reserves", async () => {
    const { pair } = await newPair(18, 18);
    const pool = await exchange.newPool(pair, true, [10n ** 24n, 10n ** 24n]);
    const sold = async () => soldOf(await chain.call(exchange.selling(pool, true, [10n ** 18n]))).paid;
    const before = await quoted(pair, true);
    expect(before).toEqual(await sold());
    await exchange.setFee(pool, 77);
    expect(await quoted(pair, true)).toEqual(await sold());
    expect(await quoted(pair, true)).not.toEqual(before);
  });

  test("that pauses its pools takes them out of quotes until they go on", async () => {
    const { pair } = await newPair(18, 6);
    await exchange.newPool(pair, false, [10n ** 24n, 10n ** 12n]);
    await exchange.pause(true);
    expect(await quoted(pair, false)).toBeUndefined();
    await exchange.pause(false);
    expect(await quoted(pair, false)).toBeDefined();
  });

  test("that answers nothing, or has no pool of two tokens, has none", async () => {
    const at = await atHead();
    const { token0, token1 } = pools[0]!;
    const directory = createPoolDirectory(
      { protocols: [{ ...exchange.protocol, factory: token0 }], feeTiers: [] },
      systemClock,
    );
    expect(await directory.poolsOf(token0, token1, at.read)).toEqual([]);
    expect(await found(token0, exchange.hand, at)).toEqual([]);
  });
});

test("a stable pool of a token with more than 18 decimals, which pools round off, is left out", async () => {
  const { pair } = await newPair(24, 18);
  await exchange.newPool(pair, true, [10n ** 30n, 10n ** 24n]);
  expect(await found(...pair, await atHead())).toEqual([]);
});

test("a stable pool of a fork whose arithmetic is not ours, be it by a wei, is found and never quoted", async () => {
  const { pair, units } = await newPair(18, 6);
  await exchange.newOther(pair, [10n ** 6n * units[0], 10n ** 6n * units[1]]);
  const at = await atHead();
  const [pool] = await found(...pair, at);
  expect(pool?.constants).toHaveLength(2);
  expect(await at.state(pool!)).toBeUndefined();
});

test("a stable pool so large that its arithmetic overflows answers nothing, and is not quoted on our word alone", async () => {
  const { pair } = await newPair(18, 18);
  await exchange.newPool(pair, true, [10n ** 39n, 10n ** 39n]);
  const at = await atHead();
  const [pool] = await found(...pair, at);
  expect(pool?.constants).toHaveLength(2);
  expect(await at.state(pool!)).toBeUndefined();
});
