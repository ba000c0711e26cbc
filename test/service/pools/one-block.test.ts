import { randomInt } from "node:crypto";
import { keccak256 } from "ethers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBlockReads } from "../../../src/chain/at-block/block-reads.ts";
import type { ReadMode } from "../../../src/chain/at-block/calls-at-block.ts";
import { createJsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { MULTICALL3 } from "../../../src/networks/network.ts";
import { loadContract, loadUniswap } from "../../../src/sandbox/artifacts.ts";
import { kindOf, POOL_KINDS } from "../../../src/service/pools/kinds.ts";
import type { Pool, PoolState } from "../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot, type Snapshots } from "../../../src/service/pools/snapshots.ts";
import { uniswapV3 } from "../../../src/service/pools/uniswap-v3/kind.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { deployExchange, type Exchange } from "../support/exchange.ts";
import { type Lie, type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { multicall3Code } from "../support/multicall3.ts";
import { systemClock } from "../support/system-clock.ts";

const MINTER = loadContract("PoolMinter").abi;
const ROUNDS = 15;
const SPACING = 10;
/** Longer than any snapshot counts as fresh, however slowly the node answered. */
const LATER_MS = 6_000;
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
let state = seed;
/** Repeatable random numbers below a limit (a linear congruence is random enough to choose lies). */
function random(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  return ((state >>> 8) % 65_536) % limit;
}

let chain: TestChain;
let exchange: Exchange;
let node: LyingNode;
/** Two pairs that every block leaves with the same reserves, and a pool whose liquidity moves. */
let twins: readonly [Pool, Pool];
let ranged: Pool;

async function pairOf(): Promise<Pool> {
  const [token0, token1] = [await exchange.newToken(18), await exchange.newToken(18)].sort() as [Address, Address];
  const address = await exchange.newPair(token0, token1, { amountA: 10n ** 24n, amountB: 10n ** 24n });
  return { kind: 1, protocol: 0, address, token0, token1, feePips: 3000, tickSpacing: 0 };
}

beforeAll(async () => {
  chain = await startTestChain(["--gas-limit", "300000000"]);
  await chain.rpc.call("anvil_setCode", [MULTICALL3, multicall3Code()]);
  exchange = await deployExchange(chain);
  twins = [await pairOf(), await pairOf()];
  const [token0, token1] = [twins[0].token0, twins[1].token0].sort() as [Address, Address];
  const position = { lower: -20_000, upper: 20_000, liquidity: 10n ** 23n };
  const plan = { fee: 500, sqrtPrice: sqrtRatioAtTick(0), positions: [position] };
  const address = await exchange.newPool(token0, token1, plan);
  ranged = { kind: 2, protocol: 1, address, token0, token1, feePips: 500, tickSpacing: SPACING };
  node = await startLyingNode(() => chain.url);
});

afterAll(async () => {
  await node?.stop();
  await chain?.stop();
});

/** One block with the same trade in both twins, and a trade or a deposit in the third pool, or both. */
function nextBlock(): Promise<void> {
  return node.alone(mineBlock);
}

async function mineBlock(): Promise<void> {
  const amount = 10n ** 20n * BigInt(1 + random(50));
  const zeroForOne = random(2) === 0;
  const calls = twins.map(({ address }) => MINTER.encodeFunctionData("swapV2", [address, zeroForOne, amount]));
  if (random(3) > 0) {
    const lower = (random(200) - 100) * SPACING;
    const deposit = [ranged.address, lower, lower + SPACING * (1 + random(40)), 10n ** 22n];
    calls.push(MINTER.encodeFunctionData("mintV3", deposit));
  }
  if (random(3) > 0) calls.push(MINTER.encodeFunctionData("swapV3", [ranged.address, zeroForOne, amount]));
  await chain.rpc.call("evm_setAutomine", [false]);
  for (const data of calls) {
    const fields = { from: chain.deployer, to: exchange.minter, data, gas: "0x4c4b40" };
    await chain.rpc.call("eth_sendTransaction", [fields]);
  }
  await chain.rpc.call("anvil_mine", ["0x1"]);
  await chain.rpc.call("evm_setAutomine", [true]);
}

const isCall = (method: string) => method === "eth_call";

/** What may be wrong with a node; each is asked for anew in each round. */
const LIES: Readonly<Record<string, () => Promise<Lie | undefined>>> = {
  "answers for an older block": async () => {
    const number = Number(await chain.rpc.call("eth_blockNumber", [])) - 1 - random(2);
    const lags = random(3) > 0;
    return ({ method, params }) =>
      lags && isCall(method)
        ? { method, params: [params[0], `0x${number.toString(16)}`, ...params.slice(2)] }
        : undefined;
  },
  "answers for its newest block, whatever was asked for": async () => {
    node.before(nextBlock);
    let asked = 0;
    return ({ method, params }) => {
      asked += 1;
      if (asked === 5) node.before(nextBlock);
      return isCall(method) ? { method, params: [params[0], "latest", ...params.slice(2)] } : undefined;
    };
  },
  "reports an older block for the newest": async () => {
    const number = Number(await chain.rpc.call("eth_blockNumber", [])) - random(3);
    return ({ method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === "latest"
        ? { method, params: [`0x${number.toString(16)}`, false] }
        : undefined;
  },
  "takes a block back while it is read": async () => {
    let asked = 0;
    return ({ method }) => {
      asked += 1;
      if (asked === 4 && method === "eth_chainId") {
        node.before(async () => {
          await node.alone(() => chain.rpc.call("anvil_reorg", [1 + random(2), []]));
          await nextBlock();
        });
      }
      return undefined;
    };
  },
  "hides its logs":
    async () =>
    ({ method }) =>
      method === "eth_getLogs" ? { answer: [] } : undefined,
  "says the truth": async () => undefined,
};

async function quotesOf(of: PoolState): Promise<string> {
  const answers: string[] = [];
  for (const tokenIn of [of.pool.token0, of.pool.token1]) {
    for (const amount of [10n ** 18n, 3n * 10n ** 21n, 2n * 10n ** 22n]) {
      let quote = of.quote(tokenIn, amount);
      for (let loads = 0; quote.kind === "unread" && loads < 8; loads += 1) {
        await quote.load();
        quote = of.quote(tokenIn, amount);
      }
      answers.push(quote.kind === "filled" ? String(quote.amountOut) : quote.kind);
    }
  }
  return answers.join();
}

/** What the real node reports that very block, undefined when it has been taken back. */
function trueQuotes(pool: Pool, snapshot: Snapshot): Promise<string | undefined> {
  return node.alone(async () => {
    const truth = await trueState(pool, snapshot);
    return truth && quotesOf(truth);
  });
}

async function trueState(pool: Pool, { head }: Snapshot): Promise<PoolState | undefined> {
  const { read } = createBlockReads({ rpc: chain.rpc, mode: "override" }).at(head);
  const kind = kindOf(pool);
  try {
    const calls = kind.encodeReads(pool, undefined);
    const answers = await Promise.all(calls.map(({ to, data, words }) => read(to, data, words)));
    const truth = kind.decode(pool, answers, { known: undefined, read });
    if (truth !== undefined) await kind.prepare?.(truth);
    // Of a block that was taken back meanwhile it may have answered anything.
    const number = `0x${head.number.toString(16)}`;
    const now = (await chain.rpc.call("eth_getBlockByNumber", [number, false])) as { hash: Hex } | null;
    return now?.hash === head.hash ? truth : undefined;
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}

/** The newest block's snapshot. A refresh that began before that block may still be under way: then the next one has it. */
async function reachNewest(snapshots: Snapshots, later: () => void): Promise<Snapshot> {
  for (let tries = 1; ; tries += 1) {
    later();
    const snapshot = await snapshots.current();
    const newest = Number(await chain.rpc.call("eth_blockNumber", []));
    if (snapshot.head.number === newest) return snapshot;
    expect(tries, `the snapshot stays at ${snapshot.head.number} of ${newest}`).toBeLessThan(10);
  }
}

describe.each<ReadMode>(["override", "multicall", "plain"])("a node read in mode %s", (mode) => {
  test(`never leads to a quote of several blocks, whatever it does (seed ${seed})`, async () => {
    let skewMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skewMs };
    const rpc = createJsonRpc({ url: node.url, timeoutMs: 10_000, maxBytes: 16_000_000 });
    const snapshots = createSnapshots({ rpc, chainId: 31_337, mode }, clock);
    onTestFinished(snapshots.stop);
    const seen = { refused: 0, compared: 0, blocks: new Set<string>() };
    for (let round = 0; round < ROUNDS; round += 1) {
      await nextBlock();
      const names = Object.keys(LIES);
      const name = names[round % names.length]!;
      // Both what was read with the snapshot and what is read later has to be of its block.
      node.lie(await LIES[name]!());
      skewMs += LATER_MS;
      try {
        const snapshot = await snapshots.current();
        const [first, second, third] = await Promise.all([...twins, ranged].map((pool) => snapshot.state(pool)));
        const quotes = await Promise.all([first!, second!, third!].map(quotesOf));
        expect(quotes[0], `${name}: twins at ${snapshot.head.number}`).toBe(quotes[1]);
        const truth = await trueQuotes(ranged, snapshot);
        if (truth !== undefined) {
          expect(quotes[2], `${name}: at ${snapshot.head.number}`).toBe(truth);
          seen.compared += 1;
        }
        seen.blocks.add(snapshot.head.hash);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        seen.refused += 1;
      }
      node.lie(undefined);
    }
    await nextBlock();
    await reachNewest(snapshots, () => (skewMs += LATER_MS));
    expect(snapshots.mode()).toBe(mode);
    expect(seen.refused, "lies were seen through").toBeGreaterThan(2);
    expect(seen.compared).toBeGreaterThan(ROUNDS / 5);
    expect(seen.blocks.size).toBeGreaterThan(ROUNDS / 5);
  });
});

test("of a pool whose liquidity stays, a new block costs no reading of ticks; of one whose liquidity moved, one request", async () => {
  let skewMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skewMs };
  const rpc = createJsonRpc({ url: node.url, timeoutMs: 10_000, maxBytes: 16_000_000 });
  const snapshots = createSnapshots({ rpc, mode: "override" }, clock);
  onTestFinished(snapshots.stop);
  await quotesOf((await (await snapshots.current()).state(ranged))!);
  const trade = async (data: string) => {
    // Before the block is there: it may be followed before anybody asks.
    const before = [node.requests("eth_call"), node.requests("eth_getLogs")] as const;
    await node.alone(() => chain.send({ to: exchange.minter, data: data as Hex }));
    const snapshot = await reachNewest(snapshots, () => (skewMs += LATER_MS));
    const quotes = await quotesOf((await snapshot.state(ranged))!);
    const spent = [node.requests("eth_call") - before[0], node.requests("eth_getLogs") - before[1]];
    expect(quotes).toBe(await trueQuotes(ranged, snapshot));
    return spent;
  };
  const swap = MINTER.encodeFunctionData("swapV3", [ranged.address, true, 10n ** 18n]);
  const mint = MINTER.encodeFunctionData("mintV3", [ranged.address, -20_000, 20_000, 10n ** 20n]);
  expect(await trade(swap)).toEqual([1, 0]);
  expect(await trade(mint)).toEqual([1, 1]);
  expect(await trade(swap)).toEqual([1, 0]);
  // A tick that nobody used before is found with its word.
  const wide = MINTER.encodeFunctionData("mintV3", [ranged.address, -7 * SPACING, 9 * SPACING, 10n ** 20n]);
  const [calls = 0, logs] = await trade(wide);
  expect(logs).toBe(1);
  expect(calls).toBeLessThanOrEqual(5);
});

test("the watched topics are those of the pools' own events, at their places in a bloom filter", () => {
  const events = loadUniswap("UniswapV3Pool").abi;
  const topics = ["Mint", "Burn"].map((name) => events.getEvent(name)!.topicHash);
  expect(uniswapV3.liquidityTopics.map(({ topic }) => topic)).toEqual(topics);
  for (const { topic, bloomPlaces } of POOL_KINDS.flatMap(({ liquidityTopics }) => liquidityTopics)) {
    const digest = keccak256(topic);
    expect(bloomPlaces).toEqual([2, 6, 10].map((at) => Number.parseInt(digest.slice(at, at + 4), 16) % 2_048));
  }
});

test("an address that is no pool has no state, and one that stops to be one loses it", async () => {
  const snapshots = createSnapshots({ rpc: chain.rpc }, systemClock);
  const nobody = { ...twins[0], address: toAddress(`0x${"ab".repeat(20)}`) };
  expect(await (await snapshots.current()).state(nobody)).toBeUndefined();
  expect(await (await snapshots.current()).state({ ...ranged, address: nobody.address })).toBeUndefined();
  snapshots.stop();
});
