import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readHead } from "../../../../src/chain/at-block/head.ts";
import { watchLogs } from "../../../../src/chain/at-block/log-watch.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
import { loadContract } from "../../../../src/sandbox/artifacts.ts";
import { createPoolDirectory } from "../../../../src/service/pools/directory.ts";
import type { Pool, PoolState } from "../../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot } from "../../../../src/service/pools/snapshots.ts";
import { sqrtRatioAtTick } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { uniswapV4 } from "../../../../src/service/pools/uniswap-v4/kind.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import { systemClock } from "../../support/system-clock.ts";
import { deployUniswapV4, keyOf, soldInV4, type UniswapV4 } from "../../support/uniswap-v4.ts";

const TOKEN = loadContract("PermitToken");
const E18 = 10n ** 18n;
/** Longer than any snapshot counts as fresh. */
const LATER_MS = 6_000;

let chain: TestChain;
let uniswap: UniswapV4;
let pools: readonly Pool[] = [];

beforeAll(async () => {
  chain = await startTestChain();
  uniswap = await deployUniswapV4(chain);
  const [token0, token1] = [await newToken(), await newToken()].sort() as [Address, Address];
  for (const [fee, spacing] of [
    [500, 10],
    [3_000, 60],
  ] as const) {
    const positions = [{ lower: -6_000, upper: 6_000, liquidity: 10_000n * E18 }];
    await uniswap.newPool([token0, token1, fee, spacing, NATIVE_TOKEN], { sqrtPrice: sqrtRatioAtTick(0), positions });
  }
  const directory = createPoolDirectory({ protocols: [uniswap.protocol], feeTiers: [] }, systemClock);
  const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
  pools = await directory.poolsOf(token0, token1, (await snapshots.current()).read);
  snapshots.stop();
}, 60_000);

afterAll(() => chain?.stop());

async function newToken(): Promise<Address> {
  const token = await chain.deploy(TOKEN, ["a token", "TKN", 18]);
  const call = (method: string, values: unknown[]) => TOKEN.abi.encodeFunctionData(method, values) as Hex;
  await chain.send({ to: token, data: call("mint", [chain.deployer, 10n ** 40n]) });
  await chain.send({ to: token, data: call("approve", [uniswap.hand, (1n << 256n) - 1n]) });
  return token;
}

/** What trades of some sizes in both directions pay, by the state and by the chain. */
async function payments(state: PoolState): Promise<{ quoted: readonly bigint[]; executed: readonly bigint[] }> {
  const [quoted, executed]: [bigint[], bigint[]] = [[], []];
  for (const zeroForOne of [true, false]) {
    for (const amount of [E18, 400n * E18 + 7n, 2_000n * E18]) {
      const tokenIn = zeroForOne ? state.pool.token0 : state.pool.token1;
      let quote = state.quote(tokenIn, amount);
      for (let loads = 0; quote.kind === "unread" && loads < 8; loads += 1) {
        await quote.load();
        quote = state.quote(tokenIn, amount);
      }
      if (quote.kind !== "filled") throw new Error(`${amount} is not filled: ${quote.kind}`);
      quoted.push(quote.amountOut);
      executed.push(...soldInV4(await chain.call(uniswap.selling(keyOf(state.pool), zeroForOne, [amount]))).paid);
    }
  }
  return { quoted, executed };
}

/** Follows the chain, and compares all pools with it at each of its blocks. */
function follow() {
  let skewMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skewMs };
  const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, clock);
  onTestFinished(snapshots.stop);
  async function newest(): Promise<Snapshot> {
    for (let tries = 1; ; tries += 1) {
      skewMs += LATER_MS;
      const snapshot = await snapshots.current();
      if (snapshot.head.number === Number(await chain.rpc.call("eth_blockNumber", []))) return snapshot;
      expect(tries, "the snapshot stays behind").toBeLessThan(10);
    }
  }
  return async () => {
    const snapshot = await newest();
    const all: bigint[][] = [];
    for (const pool of pools) {
      const { quoted, executed } = await payments((await snapshot.state(pool))!);
      expect(quoted).toEqual(executed);
      all.push([...executed]);
    }
    return all;
  };
}

test("quotes follow trades, liquidity that moves and fees that the protocol sets, block by block", async () => {
  const compare = follow();
  const [first, second] = pools.map(keyOf) as [ReturnType<typeof keyOf>, ReturnType<typeof keyOf>];
  let before = await compare();
  const changes: (() => Promise<unknown>)[] = [
    () => chain.send(uniswap.selling(first, true, [900n * E18])),
    () => uniswap.deposit(first, { lower: -1_500, upper: -500, liquidity: 5_000n * E18 }),
    () => uniswap.deposit(second, { lower: -60, upper: 600, liquidity: 7_000n * E18 }),
    () => uniswap.setProtocolFee(first, 1_000, 0),
    () => uniswap.setProtocolFee(second, 0, 500),
    () => chain.send(uniswap.selling(second, false, [700n * E18])),
    () => uniswap.deposit(first, { lower: -1_500, upper: -500, liquidity: -5_000n * E18 }),
  ];
  for (const change of changes) {
    await change();
    const after = await compare();
    expect(after).not.toEqual(before);
    before = after;
  }
});

test("the manager's logs say of which pool they are: liquidity that moves in one leaves the others as they were", async () => {
  const [moved, still] = pools as [Pool, Pool];
  const from = await readHead(chain.rpc, undefined);
  await uniswap.deposit(keyOf(moved), { lower: -600, upper: 600, liquidity: E18 });
  const to = await readHead(chain.rpc, undefined);
  const mayHaveMoved = await watchLogs(chain.rpc, { from, to }, uniswapV4.liquidityTopics);
  expect(mayHaveMoved(moved.address, moved.id)).toBe(true);
  expect(mayHaveMoved(still.address, still.id)).toBe(false);
  expect(mayHaveMoved(uniswap.manager)).toBe(true);
});
