import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { deployExchange, type Exchange } from "../support/exchange.ts";
import { blocksOfSeconds, deviation, expectedGas, reckonedBeyond } from "../support/gas-check.ts";
import { followSwap, submitOrder } from "../support/gasless.ts";
import { newGuardedToken } from "../support/guarded-token.ts";
import { deployFeeds, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";
import { createWallet, giveTokens } from "../support/wallet.ts";

const E18 = 10n ** 18n;
const E6 = 10n ** 6n;
const AMOUNT = "3000000";

let chain: TestChain;
let exchange: Exchange;
let service: Service;
let client: Client;
/** the first two behind proxies, with lists of blocked accounts; plain ones meet only the first */
const tokens = {} as Record<"guarded" | "other" | "plain" | "peer" | "weth", Address>;
const directory = mkdtempSync(join(tmpdir(), "swapd-guarded-gas-"));
const database = join(directory, "service.db");

async function deployPools(): Promise<void> {
  tokens.guarded = await newGuardedToken(chain, exchange);
  tokens.other = await newGuardedToken(chain, exchange);
  tokens.plain = await exchange.newToken(6);
  tokens.peer = await exchange.newToken(6);
  tokens.weth = exchange.wrappedNative;
  await chain.send({ to: tokens.weth, data: "0xd0e30db0", value: 3_000n * E18 });
  await exchange.approve(tokens.weth, exchange.minter);
  await exchange.approve(tokens.weth, exchange.settlement);
  const { guarded, other, plain, peer, weth } = tokens;
  await exchange.newPair(weth, guarded, { amountA: 500n * E18, amountB: 1_500_000n * E6 });
  await exchange.newPair(guarded, plain, { amountA: 1_000_000n * E6, amountB: 1_000_000n * E6 });
  const positions = [{ lower: -6_000, upper: 6_000, liquidity: 10n ** 13n }];
  await exchange.newPool(guarded, other, { fee: 3000, sqrtPrice: sqrtRatioAtTick(0), positions });
  const stable = { amplification: 400, fee: 1_234_567, amountA: 400_000n * E6, amountB: 500_000n * E6 };
  await exchange.newStablePool(guarded, peer, stable);
}

/** Trades in both directions, since the first trade of a pool costs more. */
async function season(): Promise<void> {
  const { guarded, other, plain, weth } = tokens;
  for (const token of [other, plain, weth]) {
    for (const [from, to] of [
      [guarded, token],
      [token, guarded],
    ] as const) {
      const { transaction } = await quoteAtHead("/aggregator/quote/transaction", selfExecuted(from, to));
      await chain.send({ to: transaction.to, data: transaction.data });
    }
  }
}

beforeAll(async () => {
  chain = await startTestChain();
  exchange = await deployExchange(chain);
  await deployPools();
  const { guarded, other, plain, weth } = tokens;
  const parts = relayerParts(chain, id(database));
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const market = {
    ...exchange,
    weth,
    usdc: guarded,
    dai: other,
    usdt: plain,
    orphan: plain,
    feeds: await deployFeeds(chain),
  };
  const network = { relayer: RELAYER_SETTINGS };
  const relayers = new Map([["testnet", parts]]);
  const dependencies = { logger: createRecordingLogger(), clock: systemClock, relayers };
  service = await startService(serviceOptions(chain, market, { database, network }), dependencies);
  client = await createClient(service.url);
  await blocksOfSeconds(chain);
  await season();
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

function request(fromTokenAddress: Address, toTokenAddress: Address) {
  return { ...{ network: "testnet", fromTokenAddress, toTokenAddress }, slippage: "0.05" };
}

function selfExecuted(from: Address, to: Address) {
  const amount = from === NATIVE_TOKEN || from === tokens.weth ? "1000000000000000" : AMOUNT;
  const toAddress = createWallet().address;
  return { ...request(from, to), amount, fromAddress: chain.deployer, toAddress, gasless: "false" };
}

/** A quote that stands on the newest block: the service looks for a new one only now and then. */
async function quoteAtHead(path: string, parameters: Record<string, string>): Promise<Answer["body"]> {
  const head = Number(await chain.rpc.call("eth_blockNumber", []));
  for (let tries = 0; tries < 200; tries += 1) {
    const { status, body } = await client.get(path, parameters);
    expect(status, JSON.stringify(body)).toBe(200);
    if ((body.quote ?? body).blockNumber >= head) return body;
    await sleep(10);
  }
  throw new Error(`the service does not see block ${head}`);
}

async function receiptOf(hash: unknown): Promise<{ status: Hex; gasUsed: Hex }> {
  for (let tries = 0; tries < 400; tries += 1) {
    const receipt = await chain.rpc.call("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receipt as { status: Hex; gasUsed: Hex };
    await sleep(5);
  }
  throw new Error("the transaction was not mined");
}

/** How far a quote's expected gas is from the receipt, and over how many legs it went. */
async function outcome(quote: Answer["body"], hash: unknown) {
  const receipt = await receiptOf(hash);
  expect(receipt.status).toBe("0x1");
  const { body } = await client.get("/aggregator/distributions", { quoteId: quote.id });
  const off = deviation(await expectedGas(chain, quote), Number(receipt.gasUsed));
  return { legs: (body.distributions as unknown[]).length, off, gasUsed: Number(receipt.gasUsed) };
}

type Name = keyof typeof tokens | "native";
const addressOf = (name: Name) => (name === "native" ? NATIVE_TOKEN : tokens[name]);

test.each<[Name, Name, legs: number]>([
  ["guarded", "weth", 1],
  ["guarded", "other", 1],
  ["native", "guarded", 1],
  ["guarded", "native", 1],
  ["guarded", "peer", 1],
  ["plain", "weth", 2],
  ["other", "plain", 2],
])("a swap of %s for %s uses the gas that its quote expects, within a hundredth", async (from, to, legs) => {
  const asked = selfExecuted(addressOf(from), addressOf(to));
  const { quote, transaction } = await quoteAtHead("/aggregator/quote/transaction", asked);
  const { to: target, data, value, gasLimit } = transaction;
  const quantity = (text: string): Hex => `0x${BigInt(text).toString(16)}`;
  const fields = { from: chain.deployer, to: target, data, value: quantity(value), gas: quantity(gasLimit) };
  const swapped = await outcome(quote, await chain.rpc.call("eth_sendTransaction", [fields]));
  expect(swapped.legs).toBe(legs);
  expect(Math.abs(swapped.off), `off by ${swapped.off} of ${swapped.gasUsed}`).toBeLessThan(0.01);
});

test.each<[Name, Name, legs: number, fee: string]>([
  ["guarded", "weth", 1, "0"],
  ["other", "plain", 2, "0.002"],
])(
  "a gasless swap of %s for %s uses the gas that its quote expects, within a hundredth",
  async (from, to, legs, fee) => {
    const seller = createWallet();
    await giveTokens(chain, addressOf(from), { to: seller.address, amount: 2_000_000_000n });
    const quote = await quoteAtHead("/aggregator/quote", {
      ...request(addressOf(from), addressOf(to)),
      ...{ sellAmount: "1000000000", fromAddress: seller.address, gasless: "true" },
      ...(fee === "0" ? {} : { affiliateAddress: createWallet().address, affiliateFeeInPercentage: fee }),
    });
    const taken = await submitOrder(client, seller, quote);
    expect(taken.status, JSON.stringify(taken.body)).toBe(200);
    expect(reckonedBeyond(database, quote)).toBeLessThan(0.06);
    const { hash } = await followSwap(client, quote.id, ({ blockNumber }) => blockNumber !== null);
    const swapped = await outcome(quote, hash);
    expect(swapped.legs).toBe(legs);
    expect(Math.abs(swapped.off), `off by ${swapped.off} of ${swapped.gasUsed}`).toBeLessThan(0.01);
  },
);
