import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { id } from "ethers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { loadContract, loadUniswap } from "../../../src/sandbox/artifacts.ts";
import type { NetworkOptions, RelayerOptions } from "../../../src/service/options.ts";
import { startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { followSwap, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";
import { createWallet, giveTokens, type TestWallet } from "../support/wallet.ts";

const HOSTILE = loadContract("HostileToken").abi;
const PAIR = loadUniswap("UniswapV2Pair").abi;
const E18 = 10n ** 18n;
const E6 = 10n ** 6n;

let chain: TestChain;
let market: Market;
let hostile: Address;
let hostilePair: Address;
let names = 0;
const directory = mkdtempSync(join(tmpdir(), "swapd-fees-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  hostile = await market.newToken(18, "HostileToken");
  hostilePair = await market.newPair(market.weth, hostile, { amountA: 5n * E18, amountB: 1_000_000n * E18 });
});

afterAll(async () => {
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

async function startWorld(
  change: Partial<RelayerOptions> = {},
  ofNetwork: Partial<NetworkOptions> = {},
): Promise<{ client: Client; relayer: Address }> {
  names += 1;
  const database = join(directory, `${names}.db`);
  const parts = relayerParts(chain, id(database));
  const relayer = parts.signer.address;
  await chain.rpc.call("anvil_setBalance", [relayer, "0x8ac7230489e80000"]);
  const network = { ...ofNetwork, relayer: { ...RELAYER_SETTINGS, ...change } };
  const options = serviceOptions(chain, market, { database, network });
  const relayers = new Map([["testnet", parts]]);
  const service = await startService(options, { logger: createRecordingLogger(), clock: systemClock, relayers });
  onTestFinished(() => service.stop());
  return { client: await createClient(service.url), relayer };
}

async function gasless(client: Client, trade: { from: Address; to: Address; amount: bigint; owner: TestWallet }) {
  return await client.get("/aggregator/quote", {
    network: "testnet",
    fromTokenAddress: trade.from,
    toTokenAddress: trade.to,
    sellAmount: trade.amount.toString(),
    slippage: "0.2",
    fromAddress: trade.owner.address,
    gasless: "true",
  });
}

/** Waits until the service has seen the newest block. */
async function seen(client: Client): Promise<void> {
  const head = Number(await chain.rpc.call("eth_blockNumber", []));
  await expect.poll(async () => (await client.get("/health")).body.blockNumber).toBeGreaterThanOrEqual(head);
}

async function nativeOf(account: Address): Promise<bigint> {
  return BigInt((await chain.rpc.call("eth_getBalance", [account, "latest"])) as Hex);
}

const report = (method: string, values: readonly unknown[]) =>
  chain.send({ to: hostile, data: HOSTILE.encodeFunctionData(method, values) as Hex });

function feeOf(quote: Answer["body"], type: string): bigint {
  return BigInt(quote.fees.find((fee: { type: string }) => fee.type === type).value);
}

function over(client: Client, quoteId: string): Promise<Answer["body"]> {
  const mine = () => chain.rpc.call("evm_mine", []);
  return followSwap(client, quoteId, ({ status }) => status !== "pending", mine);
}

/** Signs and submits what was quoted, if it was. @returns what the relayer spent of its own */
async function spentOn(client: Client, relayer: Address, owner: TestWallet, quoted: Answer): Promise<bigint> {
  const before = await nativeOf(relayer);
  if (quoted.status === 200) {
    const answer = await submitOrder(client, owner, quoted.body);
    if (answer.status === 200) await over(client, quoted.body.id);
  }
  return before - (await nativeOf(relayer));
}

test("a token of a stranger's pays no gas, whatever its own pool says that it is worth", async () => {
  const { client, relayer } = await startWorld();
  const owner = createWallet();
  await giveTokens(chain, hostile, { to: owner.address, amount: 100_000n * E18 });
  const quoted = await gasless(client, { from: hostile, to: market.weth, amount: 50_000n * E18, owner });
  expect(await spentOn(client, relayer, owner, quoted)).toBe(0n);
  expect(quoted).toMatchObject({ status: 400, body: { error: "GASLESS_FEE_TOKEN", parameter: "fromTokenAddress" } });
});

test("a price that is pushed between quote and submission makes the relayer pay for no gas that was not quoted", async () => {
  const { client, relayer } = await startWorld();
  const owner = createWallet();
  await giveTokens(chain, hostile, { to: owner.address, amount: 100_000n * E18 });
  const quoted = await gasless(client, { from: hostile, to: market.weth, amount: 50_000n * E18, owner });
  // The owner's own pool makes the fee look a hundred times dearer, and gives everything back afterwards.
  await giveTokens(chain, market.weth, { to: hostilePair, amount: 495n * E18 });
  await chain.send({ to: hostilePair, data: PAIR.encodeFunctionData("sync") as Hex });
  await report("wasteGasOf", [relayer, 100]);
  onTestFinished(async () => void (await report("wasteGasOf", [relayer, 0])));
  await seen(client);
  expect(await spentOn(client, relayer, owner, quoted)).toBe(0n);
});

test("a bought token that wastes the relayer's gas is refused: a swap needs no more than it was quoted with", async () => {
  const { client, relayer } = await startWorld();
  const owner = await newSeller(chain, market);
  const quoted = await gasless(client, { from: market.usdc, to: hostile, amount: 100n * E6, owner });
  expect(quoted.status).toBe(200);
  onTestFinished(async () => void (await report("wasteGasOf", [relayer, 0])));
  // The token moves once, from its pool to the recipient. What needs far more is not tried with all of it, so it fails
  // in the simulation.
  for (const [words, error] of [
    [20, "GASLESS_GAS_TOO_HIGH"],
    [200, "SIMULATION_REVERTED"],
  ] as const) {
    await report("wasteGasOf", [relayer, words]);
    await seen(client);
    const answer = await submitOrder(client, owner, quoted.body);
    expect(answer).toMatchObject({ status: 400, body: { error } });
  }
});

test("a fee is what the feeds say of its gas, also while somebody pushes the token's pool", async () => {
  const { client } = await startWorld();
  const owner = await newSeller(chain, market);
  const pair = await chain.call({
    to: market.protocols[0]?.factory ?? market.weth,
    data: loadUniswap("UniswapV2Factory").abi.encodeFunctionData("getPair", [market.usdc, market.weth]) as Hex,
  });
  const pool = `0x${pair.slice(-40)}` as Address;
  await giveTokens(chain, market.usdc, { to: pool, amount: 1_500_000n * E6 });
  await chain.send({ to: pool, data: PAIR.encodeFunctionData("sync") as Hex });
  await seen(client);
  const { body } = await gasless(client, { from: market.usdc, to: market.weth, amount: 1_000n * E6, owner });
  const gas = feeOf(body, "gas");
  // 3,000 dollars a coin, and a quarter on top; the fee was reckoned with the route before it was taken off.
  const expected = (gas * 125n * 3_000n * E6) / (100n * E18);
  expect(Number(feeOf(body, "swap"))).toBeGreaterThan(Number(expected) * 0.9);
  expect(Number(feeOf(body, "swap"))).toBeLessThan(Number(expected) * 1.1);
});

test("a fee of few units of a token is worth what its feed says, and the swap that was quoted with it is taken", async () => {
  const cents = await market.newToken(2);
  await market.newPair(market.weth, cents, { amountA: 100n * E18, amountB: 1_000_000n });
  const feed = await chain.deploy(loadContract("PriceFeed"), [8, "C / USD", 10n ** 8n]);
  const listedTokens = [
    [NATIVE_TOKEN, market.feeds.native],
    [market.usdc, market.feeds.usdc],
    [cents, feed],
  ].map(([address = feed, of = feed]) => ({ address, feed: { address: of, maxAgeSeconds: 1_000_000 } }));
  const { client } = await startWorld({}, { listedTokens });
  const owner = createWallet();
  await giveTokens(chain, cents, { to: owner.address, amount: 5_000n });
  const trade = { from: cents, to: market.weth, amount: 2_000n, owner };
  const set = async (price: bigint) => {
    const data = loadContract("PriceFeed").abi.encodeFunctionData("set", [price]) as Hex;
    await chain.send({ to: feed, data });
    await seen(client);
    return (await gasless(client, trade)).body;
  };
  const gas = feeOf(await set(50n * 10n ** 8n), "gas");
  // Gas costs about as much as 1.4 units, each a hundredth of a token: what is asked for is two of them.
  const quote = await set((gas * 3_000n * 100n * 10n ** 8n * 10n) / (14n * E18));
  expect(feeOf(quote, "swap")).toBe(2n);
  expect(await submitOrder(client, owner, quote)).toMatchObject({ status: 200, body: { status: "pending" } });
});

test.each([200_000n, 300_000n, 1_000_000n])(
  "a swap that was quoted is taken, however wide the margin is: %s",
  async (feeMarginPpm) => {
    const { client } = await startWorld({ feeMarginPpm });
    const owner = await newSeller(chain, market);
    await seen(client);
    const { body: quote } = await gasless(client, { from: market.usdc, to: market.weth, amount: 1_000n * E6, owner });
    expect(await submitOrder(client, owner, quote)).toMatchObject({ status: 200, body: { status: "pending" } });
  },
);

test("gas is paid up to a ceiling a day, although every swap repaid it", async () => {
  const probe = await startWorld();
  const owner = await newSeller(chain, market, 100_000n * E6);
  const trade = { from: market.usdc, to: market.weth, amount: 1_000n * E6, owner };
  const { body: estimate } = await gasless(probe.client, trade);
  const price = BigInt((await chain.rpc.call("eth_gasPrice", [])) as Hex);
  const worst = (BigInt(estimate.resourceEstimate.gasLimit) * 23n * price) / 10n;
  const { client } = await startWorld({ maxDailyGas: worst, maxDailyLoss: 10n * E18 });
  for (let swap = 0; swap < 20; swap += 1) {
    await seen(client);
    const { status, body: quote } = await gasless(client, trade);
    if (status !== 200) {
      expect(quote).toMatchObject({ error: "GASLESS_GAS_LIMIT" });
      return;
    }
    const answer = await submitOrder(client, owner, quote);
    if (answer.status !== 200) {
      expect(swap).toBeGreaterThan(0);
      expect(answer.body).toMatchObject({ error: "GASLESS_GAS_LIMIT" });
      return;
    }
    expect(await over(client, quote.id)).toMatchObject({ status: "success" });
  }
  throw new Error("the ceiling was never reached");
});
