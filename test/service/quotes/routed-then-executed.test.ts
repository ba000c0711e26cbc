import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { blocksOfSeconds, seasonPools, summary } from "../support/gas-check.ts";
import { addStablePools, deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { deploySwapRouter, loadSwapRouter } from "../support/public-router.ts";
import { execute, quoteAtHead } from "../support/quoted-swap.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { approveRouter, executeQuotes, RECIPIENT } from "../support/routed-swaps.ts";
import { systemClock } from "../support/system-clock.ts";

/** `SWAPD_QUOTED_SWAPS=500` is the long form; the seed is printed with a failure. */
const SWAPS = Number(process.env.SWAPD_QUOTED_SWAPS ?? 24);
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandom(seed, 0, 0x726f7574);
const ROUTER = loadSwapRouter().abi;

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
  await approveRouter(chain, router, market);
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

test(`quotes through Uniswap's router, executed on the same state, bring what they say to the wei (seed ${seed})`, async () => {
  const world = { chain, market, router, client };
  const { seen, deviations } = await executeQuotes(world, {
    ...{ swaps: SWAPS, seed, random, gasWithin: 0.1 },
    kinds: ["split", "hops", "v2", "v3", "native"],
  });
  if (process.env.SWAPD_QUOTED_SWAPS !== undefined) {
    console.log(`of ${SWAPS}: ${JSON.stringify(seen)}; gas off by ${JSON.stringify(summary(deviations))}`);
  }
  expect(summary(deviations).median, "how far expected gas is off").toBeLessThan(0.02);
}, 600_000);

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

  test.each([
    { name: "in one leg", amount: "3000000000", changes: {} },
    { name: "in several legs", amount: "900000000000", changes: {} },
    { name: "that buys coins", amount: "3000000000", changes: { toTokenAddress: NATIVE_TOKEN } },
    { name: "over two hops", amount: "3000000000", changes: { liquiditySources: "uniswap-v2" } },
  ])(
    "a swap $name that is tried brings what was quoted, and its transaction has the gas that was measured",
    async ({ amount, changes }) => {
      const asked = { fromTokenAddress: market.usdc, toTokenAddress: market.weth, slippage: "0.005", ...changes };
      const request = { ...asked, amount, fromAddress: chain.deployer, gasless: "false" };
      // A quote of the block before would be tried on prices that it does not know.
      await quoteAtHead({ chain, client }, request);
      const { quote, transaction } = await quoteAtHead({ chain, client }, { ...request, estimateGas: "true" });
      const simulated = { status: "ok", amountOut: quote.amountOut, funded: true, approved: true };
      expect(transaction.simulation).toMatchObject(simulated);
      expect((await execute(chain, transaction)).isDone).toBe(true);
    },
  );

  test("the router itself is no recipient", async () => {
    expect(await ask({ toAddress: router })).toMatchObject({ status: 400, body: { error: "RECIPIENT_FORBIDDEN" } });
  });
});
