import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RpcError } from "../../../src/chain/json-rpc.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../../src/domain/money/amount.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import { stable } from "../../../src/service/pools/stable/kind.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { blocksOfSeconds, deviation, expectedGas, seasonPools, summary } from "../support/gas-check.ts";
import { addStablePools, deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { execute, headNumber, quoteAtHead } from "../support/quoted-swap.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";
import { balanceOf, createWallet } from "../support/wallet.ts";

/** `SWAPD_QUOTED_SWAPS=500` is the long form; the seed is printed with a failure. */
const SWAPS = Number(process.env.SWAPD_QUOTED_SWAPS ?? 24);
const MOVED = Math.ceil(SWAPS / 4);
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandom(seed, 0, 0x71756f74);
const TOKEN = loadContract("PermitToken").abi;
/** Nobody's, so that all it has comes from the swaps. */
const RECIPIENT = "0x00000000000000000000000000000000000a11ce" as Address;

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-quoted-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  await addStablePools(market);
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  client = await createClient(service.url);
  await blocksOfSeconds(chain);
  await seasonPools(chain, market, client);
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

/** Dollars a request is worth at least, and how many times that at most: of any tokens, and between dollars alone. */
const RANGES = { any: [100, 3_000], dollars: [10_000, 30], change: [100, 5] } as const;

/**
 * A random request; amounts are spread over the orders of magnitude, up to a good part of the pools.
 * @param kind `dollars`: between tokens that stable pools hold, enough for a split; `change`: too little for one
 */
function randomRequest(kind: keyof typeof RANGES = "any"): Request {
  const dollars: [Address, number, decimals: number][] = [
    [market.weth, 3_000, 18],
    [market.usdc, 1, 6],
    [market.dai, 1, 18],
    [market.usdt, 1, 6],
    [NATIVE_TOKEN, 3_000, 18],
  ];
  const offered = kind === "any" ? dollars : dollars.slice(1, 4);
  const sold = offered[Math.floor(random.uniform() * offered.length)]!;
  const isCoin = (token: Address) => token === NATIVE_TOKEN || token === market.weth;
  const others = offered.filter(([token]) => token !== sold[0] && !(isCoin(token) && isCoin(sold[0])));
  const bought = others[Math.floor(random.uniform() * others.length)]!;
  const [least, times] = RANGES[kind];
  const value = least * times ** random.uniform();
  const digits = BigInt(Math.floor((value / sold[1]) * 1e6)) * 10n ** BigInt(sold[2] - 6);
  return {
    fromTokenAddress: sold[0],
    toTokenAddress: bought[0],
    amount: (digits + BigInt(Math.floor(random.uniform() * 1_000))).toString(),
    slippage: "0.005",
    fromAddress: chain.deployer,
    toAddress: random.uniform() < 0.7 ? RECIPIENT : newAccount(),
    gasless: "false",
    ...(random.uniform() < 0.8
      ? {}
      : {
          affiliateAddress: random.uniform() < 0.5 ? RECIPIENT : newAccount(),
          affiliateFeeInPercentage: "0.002",
        }),
  };
}

/** Nobody's account, with nothing. */
function newAccount(): Address {
  return createWallet().address;
}

/** Sometimes the owner allows only what he sells, as our daemon does. */
async function withAllowance<T>({ fromTokenAddress, amount }: Request, swap: () => Promise<T>): Promise<T> {
  // Tether's manners ask for a way over zero.
  if (fromTokenAddress === NATIVE_TOKEN || fromTokenAddress === market.usdt || random.uniform() < 0.7) return swap();
  const approve = (value: bigint) => {
    const data = TOKEN.encodeFunctionData("approve", [market.settlement, value]) as Hex;
    return chain.send({ to: fromTokenAddress, data });
  };
  await approve(BigInt(amount));
  const result = await swap();
  await approve(MAX_UINT256);
  return result;
}

interface Request {
  readonly fromTokenAddress: Address;
  readonly toTokenAddress: Address;
  readonly amount: string;
  readonly toAddress: Address;
  readonly [parameter: string]: string;
}

interface WireLeg {
  readonly protocol: string;
  readonly fromTokenAddress: string;
}

/** How routes went: how many were split, and where stable pools stood in them. */
function createTally() {
  const tally = { split: 0, stableAlone: 0, stableInPath: 0, stableInSplit: 0, allKindsInSplit: 0 };
  return {
    tally,
    add(legs: readonly WireLeg[]): void {
      const isSplit = new Set(legs.map((leg) => leg.fromTokenAddress)).size < legs.length;
      if (isSplit) tally.split += 1;
      const kinds = new Set(legs.map((leg) => leg.protocol));
      if (!kinds.has(stable.source)) return;
      if (legs.length === 1) tally.stableAlone += 1;
      else if (!isSplit) tally.stableInPath += 1;
      else tally.stableInSplit += 1;
      if (isSplit && kinds.size === 3) tally.allKindsInSplit += 1;
    },
  };
}

async function balance({ toTokenAddress: token, toAddress: owner }: Request): Promise<bigint> {
  if (token !== NATIVE_TOKEN) return balanceOf(chain, token, owner);
  return BigInt((await chain.rpc.call("eth_getBalance", [owner, "latest"])) as string);
}

/**
 * Whether a swap that was just undone would have been filled with twice the gas that its quote says. A V3 pool whose
 * liquidity came to an end meanwhile looks for more through thousands of empty words: no limit is meant for that.
 */
async function fillsWithMoreGas({ from, to, data, value, gasLimit }: Answer["body"]): Promise<boolean> {
  const before = `0x${((await headNumber(chain)) - 1).toString(16)}`;
  const fields = {
    from,
    to,
    data,
    value: `0x${BigInt(value).toString(16)}`,
    gas: `0x${(2n * BigInt(gasLimit)).toString(16)}`,
  };
  const [answer] = await chain.rpc.batch([{ method: "eth_call", params: [fields, before] }]);
  return !(answer instanceof RpcError);
}

test(`quotes through HTTP, executed on the same state, bring what they say to the wei (seed ${seed})`, async () => {
  const { tally, add } = createTally();
  const deviations: number[] = [];
  for (let count = 0; count < SWAPS; count += 1) {
    const request = randomRequest((["any", "dollars", "any", "change"] as const)[count % 4]);
    const before = await balance(request);
    const { quote, legs, isDone, gasUsed } = await withAllowance(request, async () => {
      const { quote, transaction } = await quoteAtHead({ chain, client }, request);
      const route = await client.get("/aggregator/distributions", { quoteId: quote.id });
      return { quote, legs: route.body.distributions as WireLeg[], ...(await execute(chain, transaction)) };
    });
    add(legs);
    const context = `${JSON.stringify(request)} over ${legs.length} legs, seed ${seed}`;
    expect(isDone, context).toBe(true);
    expect((await balance(request)) - before, context).toBe(BigInt(quote.amountOut));
    const off = deviation(await expectedGas(chain, quote), gasUsed);
    deviations.push(off);
    expect(Math.abs(off), `expected gas to ${gasUsed} of the receipt, ${context}`).toBeLessThan(0.1);
  }
  if (process.env.SWAPD_QUOTED_SWAPS !== undefined) {
    console.log(`of ${SWAPS} routes: ${JSON.stringify(tally)}; gas off by ${JSON.stringify(summary(deviations))}`);
  }
  expect(summary(deviations).median, "how far expected gas is off").toBeLessThan(0.02);
  expect(tally.split, "requests that were split").toBeGreaterThan(SWAPS < 100 ? 0 : SWAPS / 8);
  const { stableAlone, stableInPath, stableInSplit, allKindsInSplit } = tally;
  expect(stableInSplit, JSON.stringify(tally)).toBeGreaterThan(0);
  // A short form of few requests may miss these by chance.
  if (SWAPS < 100) return;
  expect(Math.min(stableAlone, stableInPath, allKindsInSplit), JSON.stringify(tally)).toBeGreaterThan(0);
}, 600_000);

test(`a swap in a market that moved brings its minimum at least, or nothing happens (seed ${seed})`, async () => {
  const ends = { filled: 0, reverted: 0 };
  for (let count = 0; count < MOVED; count += 1) {
    const request = randomRequest();
    const { quote, transaction } = await quoteAtHead({ chain, client }, request);
    // The same way with a tenth to all of the amount is within the slippage at times; with a thousandth it is.
    const thousandths = count % 2 === 0 ? 1n : BigInt(1 + Math.floor(random.uniform() * 10)) * 100n;
    const amount = ((BigInt(request.amount) * thousandths) / 1_000n).toString();
    const other = await quoteAtHead({ chain, client }, { ...request, amount });
    await execute(chain, other.transaction);
    const before = await balance(request);
    const { isDone } = await execute(chain, transaction);
    const brought = (await balance(request)) - before;
    ends[isDone ? "filled" : "reverted"] += 1;
    if (isDone) expect(brought >= BigInt(quote.amountOutMin), `${JSON.stringify(request)}, seed ${seed}`).toBe(true);
    else expect(brought).toBe(0n);
    if (!isDone) expect(await fillsWithMoreGas(transaction), `more gas, seed ${seed}`).toBe(false);
  }
  expect(ends.filled + ends.reverted).toBe(MOVED);
  expect(ends.filled, "swaps that were within their slippage").toBeGreaterThan(0);
}, 600_000);
