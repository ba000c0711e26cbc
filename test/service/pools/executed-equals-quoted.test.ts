import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RpcError, type RpcRequest } from "../../../src/chain/json-rpc.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { createPoolDirectory } from "../../../src/service/pools/directory.ts";
import { kindOf } from "../../../src/service/pools/kinds.ts";
import type { Pool, PoolState } from "../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot } from "../../../src/service/pools/snapshots.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { deployExchange, type Exchange, FEE_TIERS } from "../support/exchange.ts";
import { createRandomAmounts } from "../support/random-amounts.ts";
import { systemClock } from "../support/system-clock.ts";

const SETTLEMENT = loadContract("SwapdSettlement").abi;
const QUOTES_WANTED = 2_400;
const DECIMALS = [18, 6, 8, 18];
const SPACING: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10000: 200 };

const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandomAmounts(seed);

let chain: TestChain;
let exchange: Exchange;
let tokens: Address[] = [];
let snapshot: Snapshot;
let pools: readonly Pool[] = [];

async function makePairs(): Promise<void> {
  for (const [a, b] of [
    [0, 1],
    [1, 2],
    [0, 3],
    [2, 3],
  ] as const) {
    const reserves = { amountA: random.magnitude(6, 26), amountB: random.magnitude(6, 26) };
    await exchange.newPair(tokens[a]!, tokens[b]!, reserves);
  }
}

async function makePools(): Promise<void> {
  for (const [index, [a, b]] of (
    [
      [0, 1],
      [1, 2],
      [0, 2],
      [2, 3],
    ] as const
  ).entries()) {
    for (const fee of FEE_TIERS) {
      const spacing = SPACING[fee]!;
      const tick = random.integer(-80_000, 80_000) * (index === 3 ? 10 : 1);
      const center = Math.floor(tick / spacing) * spacing;
      const positions = Array.from({ length: random.integer(2, 9) }, () => {
        const lower = center + spacing * random.integer(-300, 200);
        return {
          lower: Math.max(lower, -887_200),
          upper: Math.min(lower + spacing * random.integer(1, 400), 887_200),
          liquidity: random.magnitude(8, 22),
        };
      });
      // Not every price is a tick's: start somewhere between two of them.
      const sqrtPrice = sqrtRatioAtTick(tick) + BigInt(random.integer(0, 20_000));
      await exchange.newPool(tokens[a]!, tokens[b]!, { fee, sqrtPrice, positions });
    }
  }
}

async function makeStablePools(): Promise<void> {
  for (const [a, b, count] of [
    [0, 1, 1],
    [1, 2, 2],
    [0, 3, 1],
  ] as const) {
    for (let made = 0; made < count; made += 1) {
      // Both sides have so many whole coins that a tenth of one is a small trade, within a factor of ten of each other.
      const unit = (index: number) => 10n ** BigInt(DECIMALS[index]!);
      const amountA = (random.magnitude(3, 9) * unit(a)) / 7n;
      const amountB = ((amountA / unit(a) + 1n) * BigInt(random.integer(100, 1_000)) * unit(b)) / 100n;
      const plan = {
        amplification: random.integer(1, 5_000),
        fee: random.integer(0, 4_000) * 10_000,
        amountA,
        amountB,
      };
      await exchange.newStablePool(tokens[a]!, tokens[b]!, plan);
    }
  }
}

beforeAll(async () => {
  chain = await startTestChain(["--gas-limit", "300000000"]);
  exchange = await deployExchange(chain);
  tokens = [];
  for (const decimals of DECIMALS) tokens.push(await exchange.newToken(decimals));
  await makePairs();
  await makePools();
  await makeStablePools();
  const { protocols } = exchange;
  const directory = createPoolDirectory({ protocols, feeTiers: FEE_TIERS }, systemClock);
  snapshot = await createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock).current();
  const pairs = tokens.flatMap((a, index) => tokens.slice(index + 1).map((b) => [a, b] as const));
  pools = (await Promise.all(pairs.map(([a, b]) => directory.poolsOf(a, b, snapshot.read)))).flat();
});

afterAll(() => chain?.stop());

interface Hop {
  state: PoolState;
  tokenIn: Address;
  tokenOut: Address;
}

/** One hop, or two through pools that share a token. */
function randomHops(states: readonly PoolState[]): Hop[] {
  const state = states[random.integer(0, states.length - 1)]!;
  const forwards = random.integer(0, 1) === 0;
  const { token0, token1 } = state.pool;
  const first = { state, tokenIn: forwards ? token0 : token1, tokenOut: forwards ? token1 : token0 };
  if (random.integer(0, 2) > 0) return [first];
  const next = states.filter(({ pool }) => {
    const other =
      pool.token0 === first.tokenOut ? pool.token1 : pool.token1 === first.tokenOut ? pool.token0 : undefined;
    return other !== undefined && other !== first.tokenIn;
  });
  const second = next[random.integer(0, next.length - 1)];
  if (second === undefined) return [first];
  const tokenOut = second.pool.token0 === first.tokenOut ? second.pool.token1 : second.pool.token0;
  return [first, { state: second, tokenIn: first.tokenOut, tokenOut }];
}

async function quoteHops(hops: readonly Hop[], amountIn: bigint): Promise<bigint | undefined> {
  let amount = amountIn;
  for (const { state, tokenIn } of hops) {
    for (let loads = 0; ; loads += 1) {
      const quote = state.quote(tokenIn, amount);
      if (quote.kind === "unread" && loads < 6) {
        await quote.load();
        continue;
      }
      if (quote.kind !== "filled") return undefined;
      amount = quote.amountOut;
      break;
    }
  }
  return amount;
}

function executed(hops: readonly Hop[], amountIn: bigint, portions: readonly bigint[] = []): RpcRequest {
  const order = {
    recipient: "0x00000000000000000000000000000000000a11ce",
    fromAsset: hops[0]!.tokenIn,
    toAsset: hops.at(-1)!.tokenOut,
    deadline: 1n << 60n,
    amountOutMin: 1,
    swapFee: 0,
    amountIn,
    nonce: 0,
    affiliate: NATIVE_TOKEN,
    affiliateFee: 0,
  };
  const route = hops.map(({ state: { pool }, tokenIn, tokenOut }, index) => ({
    protocol: pool.protocol,
    pool: pool.address,
    tokenIn,
    tokenOut,
    fee: kindOf(pool).leg!.fee(pool),
    portion: portions[index] ?? 10n ** 18n,
  }));
  const data = SETTLEMENT.encodeFunctionData("swap", [order, route]) as Hex;
  return { method: "eth_call", params: [{ from: chain.deployer, to: exchange.settlement, data }, "latest"] };
}

describe("quotes", () => {
  test(`equal what the settlement contracts execute on real pools, to the wei (seed ${seed})`, async () => {
    expect(pools).toHaveLength(24);
    const states = (await Promise.all(pools.map((pool) => snapshot.state(pool)))).filter(
      (state) => state !== undefined,
    );
    expect(states).toHaveLength(24);
    const kinds = new Map<string, number>();
    let compared = 0;
    for (let round = 0; compared < QUOTES_WANTED && round < 60; round += 1) {
      const batch: { hops: Hop[]; amountIn: bigint; quoted: bigint }[] = [];
      for (let index = 0; index < 200; index += 1) {
        const hops = randomHops(states);
        const amountIn = random.magnitude(3, 25);
        const quoted = await quoteHops(hops, amountIn);
        if (quoted !== undefined) batch.push({ hops, amountIn, quoted });
      }
      const answers = await chain.rpc.batch(batch.map(({ hops, amountIn }) => executed(hops, amountIn)));
      for (const [index, { hops, amountIn, quoted }] of batch.entries()) {
        const answer = answers[index];
        const path = hops.map(({ state, tokenIn }) => `${state.pool.address} ${state.pool.feePips} from ${tokenIn}`);
        const context = `${amountIn} over ${path.join(", ")}`;
        if (answer instanceof RpcError) throw new Error(`quoted but not executable: ${context}: ${answer.message}`);
        expect(BigInt(answer as Hex), context).toBe(quoted);
        const key = hops.map(({ state }) => state.pool.kind).join("+");
        kinds.set(key, (kinds.get(key) ?? 0) + 1);
      }
      compared += batch.length;
    }
    expect(compared).toBeGreaterThanOrEqual(2_000);
    for (const key of ["1", "2", "3", "1+2", "2+1", "2+2", "1+3", "3+2"])
      expect(kinds.get(key) ?? 0, key).toBeGreaterThan(5);
  }, 180_000);

  test(`of a pool that a trade has just moved equal what the second trade gets (seed ${seed})`, async () => {
    const compared = new Map<number, number>();
    const trades: { hops: Hop[]; amountIn: bigint; quoted: bigint }[] = [];
    for (const pool of pools) {
      const state = (await snapshot.state(pool))!;
      for (let attempt = 0; attempt < 12; attempt += 1) {
        const amountIn = random.magnitude(4, 20) * 2n;
        const hop = { state, tokenIn: pool.token0, tokenOut: pool.token1 };
        if ((await quoteHops([hop], amountIn)) === undefined) continue;
        const first = state.quote(pool.token0, amountIn / 2n);
        const second = first.kind === "filled" ? first.after.quote(pool.token0, amountIn / 2n) : first;
        if (first.kind !== "filled" || second.kind !== "filled") continue;
        trades.push({ hops: [hop, hop], amountIn, quoted: first.amountOut + second.amountOut });
      }
    }
    const half = 5n * 10n ** 17n;
    const requests = trades.map(({ hops, amountIn }) => executed(hops, amountIn, [half]));
    for (const [index, answer] of (await chain.rpc.batch(requests)).entries()) {
      const { hops, amountIn, quoted } = trades[index]!;
      const context = `${amountIn} over ${hops[0]!.state.pool.address}`;
      if (answer instanceof RpcError) throw new Error(`quoted but not executable: ${context}: ${answer.message}`);
      expect(BigInt(answer as Hex), context).toBe(quoted);
      const { kind } = hops[0]!.state.pool;
      compared.set(kind, (compared.get(kind) ?? 0) + 1);
    }
    for (const kind of [1, 2, 3]) expect(compared.get(kind) ?? 0, `kind ${kind}`).toBeGreaterThan(0);
  });

  test("of a stable pool whose own arithmetic is another are not given", async () => {
    const pool = pools.find(({ kind }) => kind === 3)!;
    const calls = kindOf(pool).encodeReads(pool, undefined);
    const answers = await Promise.all(calls.map(({ to, data, words }) => snapshot.read(to, data, words)));
    const context = { known: undefined, read: snapshot.read };
    expect(kindOf(pool).decode(pool, answers, context)).toBeDefined();
    const oneWeiOff = answers.map((words, index) => (index === 5 ? [words![0]! + 1n] : words));
    expect(kindOf(pool).decode(pool, oneWeiOff, context)).toBeUndefined();
  });

  test("come close to the spot price for small trades and never exceed it", async () => {
    let compared = 0;
    for (const pool of pools.filter(({ kind }) => kind === 3)) {
      const state = (await snapshot.state(pool))!;
      for (const [tokenIn, decimals] of [
        [pool.token0, pool.constants![2]!],
        [pool.token1, pool.constants![3]!],
      ] as const) {
        const amountIn = 10n ** BigInt(decimals) / 10n;
        const { numerator, denominator } = state.spot(tokenIn);
        const atMost = (amountIn * numerator * (1_000_000n - BigInt(state.pool.feePips))) / (denominator * 1_000_000n);
        const quote = state.quote(tokenIn, amountIn);
        if (quote.kind !== "filled" || quote.amountOut < 10n ** 5n) continue;
        expect(quote.amountOut).toBeLessThanOrEqual(atMost);
        expect(quote.amountOut).toBeGreaterThan((atMost * 95n) / 100n);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(3);
  });
});
