import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../../src/domain/money/amount.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { blocksOfSeconds, deviation, expectedGas, seasonPools, summary } from "../support/gas-check.ts";
import { addStablePools, deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { deploySwapRouter, loadSwapRouter } from "../support/public-router.ts";
import { execute, quoteAtHead } from "../support/quoted-swap.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";
import { balanceOf, createWallet } from "../support/wallet.ts";

/** `SWAPD_QUOTED_SWAPS=500` is the long form; the seed is printed with a failure. */
const SWAPS = Number(process.env.SWAPD_QUOTED_SWAPS ?? 24);
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandom(seed, 0, 0x726f7574);
const TOKEN = loadContract("PermitToken").abi;
const ROUTER = loadSwapRouter().abi;
const RECIPIENT = "0x00000000000000000000000000000000000a11ce" as Address;

let chain: TestChain;
let market: Market;
let router: Address;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-routed-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  await addStablePools(market);
  router = await deploySwapRouter(chain, market);
  for (const token of [market.weth, market.usdc, market.dai, market.usdt]) {
    const data = TOKEN.encodeFunctionData("approve", [router, MAX_UINT256]) as Hex;
    await chain.send({ to: token, data });
  }
  const network = { settlement: undefined, executor: undefined, router: { address: router, codeHash: undefined } };
  const options = serviceOptions(chain, market, { database: join(directory, "service.db"), network });
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

/** A random request between any two tokens, worth up to a good part of the pools. */
function randomRequest() {
  const offered: [Address, number, decimals: number][] = [
    [market.weth, 3_000, 18],
    [market.usdc, 1, 6],
    [market.dai, 1, 18],
    [market.usdt, 1, 6],
    [NATIVE_TOKEN, 3_000, 18],
  ];
  const isCoin = (token: Address) => token === NATIVE_TOKEN || token === market.weth;
  const sold = offered[Math.floor(random.uniform() * offered.length)]!;
  const others = offered.filter(([token]) => token !== sold[0] && !(isCoin(token) && isCoin(sold[0])));
  const bought = others[Math.floor(random.uniform() * others.length)]!;
  const value = 100 * 3_000 ** random.uniform();
  const digits = BigInt(Math.floor((value / sold[1]) * 1e6)) * 10n ** BigInt(sold[2] - 6);
  return {
    fromTokenAddress: sold[0],
    toTokenAddress: bought[0],
    amount: (digits + BigInt(Math.floor(random.uniform() * 1_000))).toString(),
    slippage: "0.005",
    fromAddress: chain.deployer,
    toAddress: random.uniform() < 0.7 ? RECIPIENT : createWallet().address,
    gasless: "false",
  };
}

type Request = ReturnType<typeof randomRequest>;

async function held(token: Address, owner: Address): Promise<bigint> {
  if (token !== NATIVE_TOKEN) return balanceOf(chain, token, owner);
  return BigInt((await chain.rpc.call("eth_getBalance", [owner, "latest"])) as string);
}

/** What a router must never keep: somebody else could take it. */
async function leftInRouter(): Promise<readonly bigint[]> {
  const tokens = [market.weth, market.usdc, market.dai, market.usdt, NATIVE_TOKEN];
  return Promise.all(tokens.map((token) => held(token, router)));
}

test(`quotes through Uniswap's router, executed on the same state, bring what they say to the wei (seed ${seed})`, async () => {
  const deviations: number[] = [];
  const seen = { split: 0, hops: 0, v2: 0, v3: 0, native: 0 };
  for (let count = 0; count < SWAPS; count += 1) {
    const request = randomRequest();
    const before = await held(request.toTokenAddress, request.toAddress);
    const sold = request.fromTokenAddress;
    const owned = await held(sold, chain.deployer);
    const { quote, transaction } = await quoteAtHead({ chain, client }, request);
    const route = await client.get("/aggregator/distributions", { quoteId: quote.id });
    const { isDone, gasUsed } = await execute(chain, transaction);
    const context = `${JSON.stringify(request)} over ${JSON.stringify(route.body.distributions)}, seed ${seed}`;
    expect(isDone, context).toBe(true);
    expect((await held(request.toTokenAddress, request.toAddress)) - before, context).toBe(BigInt(quote.amountOut));
    if (sold !== NATIVE_TOKEN) expect(owned - (await held(sold, chain.deployer)), context).toBe(BigInt(request.amount));
    expect(await leftInRouter(), context).toEqual([0n, 0n, 0n, 0n, 0n]);
    tally(seen, route.body.distributions, request);
    const off = deviation(await expectedGas(chain, quote), gasUsed);
    deviations.push(off);
    expect(Math.abs(off), `expected gas to ${gasUsed} of the receipt, ${context}`).toBeLessThan(0.1);
  }
  if (process.env.SWAPD_QUOTED_SWAPS !== undefined) {
    console.log(`of ${SWAPS}: ${JSON.stringify(seen)}; gas off by ${JSON.stringify(summary(deviations))}`);
  }
  expect(summary(deviations).median, "how far expected gas is off").toBeLessThan(0.02);
  expect(Math.min(seen.split, seen.hops, seen.v2, seen.v3, seen.native), JSON.stringify(seen)).toBeGreaterThan(0);
}, 600_000);

interface WireHop {
  readonly protocol: string;
  readonly fromTokenAddress: string;
}

function tally(
  seen: { split: number; hops: number; v2: number; v3: number; native: number },
  hops: readonly WireHop[],
  request: Request,
): void {
  const legs = hops.filter(({ fromTokenAddress }) => fromTokenAddress === hops[0]?.fromTokenAddress).length;
  if (legs > 1) seen.split += 1;
  if (hops.length > legs) seen.hops += 1;
  if (hops.some(({ protocol }) => protocol === "uniswap-v2")) seen.v2 += 1;
  if (hops.some(({ protocol }) => protocol === "uniswap-v3")) seen.v3 += 1;
  if (request.fromTokenAddress === NATIVE_TOKEN || request.toTokenAddress === NATIVE_TOKEN) seen.native += 1;
}

describe("what a quote through a public router says", () => {
  const ask = (changes: Record<string, string> = {}) =>
    client.get("/aggregator/quote/transaction", {
      fromTokenAddress: market.usdc,
      toTokenAddress: market.weth,
      amount: "3000000000",
      slippage: "0.005",
      fromAddress: chain.deployer,
      gasless: "false",
      ...changes,
    });

  test("the router is the target, the message has the plain fields, and there is nothing to sign", async () => {
    const { status, body } = await ask({ toAddress: RECIPIENT });
    expect(status).toBe(200);
    const { quote, transaction } = body;
    expect(quote).toMatchObject({ targetAddress: router, typedData: null, permit: null });
    expect(quote.message).toEqual({
      router,
      sender: chain.deployer,
      recipient: RECIPIENT,
      fromAsset: market.usdc,
      toAsset: market.weth,
      deadline: expect.stringMatching(/^\d+$/),
      amountOutMin: quote.amountOutMin,
      swapFee: "0",
      amountIn: "3000000000",
    });
    const call = ROUTER.parseTransaction({ data: transaction.data });
    expect(call?.signature).toBe("multicall(uint256,bytes[])");
    expect(String(call?.args[0])).toBe(quote.message.deadline);
  });

  test.each([
    { name: "a gasless swap", changes: { gasless: "true" }, error: "GASLESS_UNAVAILABLE" },
    {
      name: "an affiliate",
      changes: { affiliateAddress: RECIPIENT, affiliateFeeInPercentage: "0.001" },
      error: "AFFILIATE_UNAVAILABLE",
    },
    {
      name: "a recipient that the router takes for the caller",
      changes: { toAddress: `0x${"0".repeat(39)}1` },
      error: "RECIPIENT_FORBIDDEN",
    },
    {
      name: "a recipient that the router takes for itself",
      changes: { toAddress: `0x${"0".repeat(39)}2` },
      error: "RECIPIENT_FORBIDDEN",
    },
  ])("$name is refused by name", async ({ changes, error }) => {
    expect(await ask(changes)).toMatchObject({ status: 400, body: { error } });
  });

  test("the router itself is no recipient", async () => {
    expect(await ask({ toAddress: router })).toMatchObject({ status: 400, body: { error: "RECIPIENT_FORBIDDEN" } });
  });
});
