import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { compileSlotTokens, type Keeping } from "../support/slot-token.ts";
import { systemClock } from "../support/system-clock.ts";
import { createWallet, giveTokens } from "../support/wallet.ts";

const E18 = 10n ** 18n;
const TRANSACTION = "/aggregator/transaction";

let chain: TestChain;
let market: Market;
let wbtc: Address;
let service: Service;
let client: Client;
let poor: Address;
const tokens = new Map<string, Address>();
const slotTokens = compileSlotTokens();
const directory = mkdtempSync(join(tmpdir(), "swapd-simulation-"));
const KEEPINGS: [Keeping, isProxy?: boolean][] = [
  ["namespaced"],
  ["vyper"],
  ["far"],
  ["remote"],
  ["flagged"],
  ["doubled"],
  ["costly"],
  ["flagged", true],
];

function keepingName([keeping, isProxy]: [Keeping, boolean?]): string {
  return isProxy ? `${keeping} behind a proxy` : keeping;
}

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  wbtc = await market.newToken(8);
  await market.newPair(market.weth, wbtc, { amountA: 200n * E18, amountB: 10n * 10n ** 8n });
  for (const kind of KEEPINGS) {
    const token = await slotTokens.deploy(chain, market, ...kind);
    await market.newPair(market.weth, token, { amountA: 10n * E18, amountB: 30_000n * E18 });
    tokens.set(keepingName(kind), token);
  }
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  client = await createClient(service.url);
});

/** Nobody has seen it: neither native tokens nor others, nor approvals. */
beforeEach(() => {
  poor = createWallet().address;
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

type Swap = { from: Address; to: Address; amount: bigint; by: Address };

/** A quote on the newest block: the service looks for a new one only now and then. */
async function quoteOf({ from, to, amount, by }: Swap, changes: Record<string, string> = {}): Promise<Answer["body"]> {
  const head = Number(await chain.rpc.call("eth_blockNumber", []));
  for (let tries = 0; tries < 200; tries += 1) {
    const { status, body } = await client.get("/aggregator/quote", {
      fromTokenAddress: from,
      toTokenAddress: to,
      amount: amount.toString(),
      slippage: "0.005",
      fromAddress: by,
      gasless: "false",
      ...changes,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    if (body.blockNumber === head) return body;
    await sleep(10);
  }
  throw new Error(`the service does not see block ${head}`);
}

async function transactionOf(quote: Answer["body"], options: Record<string, string>): Promise<Answer> {
  return client.get(TRANSACTION, { quoteId: quote.id, ...options });
}

interface Receipt {
  readonly status: string;
  readonly gasUsed: string;
}

/** Sends a transaction of an answer as it is and gives its receipt. */
async function execute({ from, to, data, value, gasLimit }: Answer["body"]): Promise<Receipt> {
  await chain.rpc.call("anvil_impersonateAccount", [from]);
  await chain.rpc.call("anvil_setBalance", [from, `0x${(BigInt(value) + 10n * E18).toString(16)}`]);
  const fields = {
    from,
    to,
    data,
    value: `0x${BigInt(value).toString(16)}`,
    gas: `0x${BigInt(gasLimit).toString(16)}`,
  };
  // Blocks of a test follow each other within a second; on no real chain have two the same time.
  const { timestamp } = (await chain.rpc.call("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
  await chain.rpc.call("evm_setNextBlockTimestamp", [Number(timestamp) + 1]);
  const hash = await chain.rpc.call("eth_sendTransaction", [fields]);
  for (let tries = 0; tries < 400; tries += 1) {
    const receipt = (await chain.rpc.call("eth_getTransactionReceipt", [hash])) as null | Receipt;
    if (receipt !== null) return receipt;
    await sleep(5);
  }
  throw new Error("the transaction was not mined");
}

async function approve(owner: Address, token: Address, amount: bigint): Promise<void> {
  await chain.rpc.call("anvil_setBalance", [owner, `0x${E18.toString(16)}`]);
  await chain.rpc.call("anvil_impersonateAccount", [owner]);
  const data =
    `0x095ea7b3${market.settlement.slice(2).padStart(64, "0")}${amount.toString(16).padStart(64, "0")}` as const;
  await chain.send({ from: owner, to: token, data });
}

/** What of each token is sold in these tests. */
function sales(): [name: string, from: Address, amount: bigint, to: Address][] {
  return [
    ["WETH", market.weth, E18, market.usdc],
    ["USDC", market.usdc, 3_000_000_000n, market.weth],
    ["USDT", market.usdt, 3_000_000_000n, market.dai],
    ["DAI", market.dai, 3_000n * E18, NATIVE_TOKEN],
    ["WBTC", wbtc, 5_000_000n, market.usdc],
    ["ETH", NATIVE_TOKEN, E18, wbtc],
  ];
}

describe("a wallet without anything is told what its swap would bring, to the wei, and what it lacks", () => {
  test.each(["WETH", "USDC", "USDT", "DAI", "WBTC", "ETH"])("%s", async (name) => {
    const [, from, amount, to] = sales().find(([one]) => one === name)!;
    const quote = await quoteOf({ from, to, amount, by: poor });
    const { status, body } = await transactionOf(quote, { estimateGas: "true" });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.simulation).toMatchObject({ status: "ok", amountOut: quote.amountOut, blockNumber: quote.blockNumber });
    expect(body.simulation).toMatchObject({ funded: false, approved: name === "ETH" });
    // The limit was measured, not taken from the quote, and it is enough for the wallet once it has what it lacks.
    expect(body.gasLimit).not.toBe(quote.resourceEstimate.gasLimit);
    expect(BigInt(body.gasLimit)).toBeGreaterThan(BigInt(body.simulation.gasUsed));
    if (name !== "ETH") {
      await giveTokens(chain, from, { to: poor, amount });
      await approve(poor, from, amount);
    }
    const { status: mined, gasUsed } = await execute(body);
    expect(mined).toBe("0x1");
    expect(Math.abs(Number(gasUsed) / Number(body.simulation.gasUsed) - 1)).toBeLessThan(0.01);
  });
});

describe("what a wallet has is reported as it is", () => {
  test("funds without an allowance, an allowance without funds, and both", async () => {
    const sale = { from: market.usdt, to: market.weth, amount: 3_000_000_000n };
    await giveTokens(chain, market.usdt, { to: poor, amount: sale.amount });
    const funded = await quoteOf({ ...sale, by: poor }, { simulate: "true" });
    expect(funded.simulation).toMatchObject({ status: "ok", funded: true, approved: false });
    const other = createWallet().address;
    await approve(other, market.usdt, sale.amount);
    const approved = await quoteOf({ ...sale, by: other }, { simulate: "true" });
    expect(approved.simulation).toMatchObject({ status: "ok", funded: false, approved: true });
    await giveTokens(chain, market.usdt, { to: other, amount: sale.amount - 1n });
    const nearly = await quoteOf({ ...sale, by: other }, { simulate: "true" });
    expect(nearly.simulation).toMatchObject({ status: "ok", funded: false, approved: true });
    await approve(poor, market.usdt, sale.amount);
    const both = await quoteOf({ ...sale, by: poor }, { simulate: "true" });
    expect(both.simulation).toMatchObject({ status: "ok", funded: true, approved: true, amountOut: both.amountOut });
  });

  test("the gas of a wallet that has everything is what the receipt says", async () => {
    const quote = await quoteOf({ from: market.usdc, to: market.weth, amount: 60_000_000_000n, by: chain.deployer });
    const { body } = await transactionOf(quote, { estimateGas: "true" });
    const { gasUsed } = await execute(body);
    expect(body.simulation.gasUsed).toBe(BigInt(gasUsed).toString());
  });

  test("a token that costs far more than usual ones is not told to work with too little gas", async () => {
    const sale = { from: tokens.get("costly")!, to: market.weth, amount: 5n * E18, by: chain.deployer };
    const plain = await quoteOf(sale);
    const { body } = await transactionOf(plain, { simulate: "true" });
    expect(body.simulation.status).toBe("ok");
    expect(BigInt(body.simulation.gasUsed)).toBeGreaterThan(BigInt(plain.resourceEstimate.gasLimit));
    expect(await execute(body)).toMatchObject({ status: "0x1" });
    const usual = await quoteOf({ ...sale, from: market.usdc, amount: 3_000_000_000n }, { simulate: "true" });
    const unasked = await quoteOf({ ...sale, from: market.usdc, amount: 3_000_000_000n });
    expect(usual.resourceEstimate.gasLimit).toBe(unasked.resourceEstimate.gasLimit);
  });
});

describe("a swap that the market has made impossible", () => {
  test("failed with the contract's reason, for anyone who asks, and is refused a gas estimate", async () => {
    const sale = { from: market.dai, to: market.weth, amount: 1_000n * E18 };
    const quotes = [await quoteOf({ ...sale, by: poor }), await quoteOf({ ...sale, by: chain.deployer })];
    const mover = await quoteOf({ ...sale, amount: 100_000n * E18, by: chain.deployer });
    await execute((await transactionOf(mover, {})).body);
    for (const quote of quotes) {
      // Within the slippage nothing is wrong, so the service must see the new block first.
      await quoteOf({ ...sale, by: poor });
      const reported = await transactionOf(quote, { simulate: "true" });
      expect(reported).toMatchObject({ status: 200, body: { simulation: { status: "failed" } } });
      const [, amountOut, minimum] = /^OutputBelowMinimum\(amountOut (\d+), amountOutMin (\d+)\)$/.exec(
        reported.body.simulation.reason,
      )!;
      expect(minimum).toBe(quote.amountOutMin);
      expect(BigInt(amountOut!)).toBeLessThan(BigInt(minimum!));
      expect(reported.body.gasLimit).toBe(quote.resourceEstimate.gasLimit);
      const refused = await transactionOf(quote, { estimateGas: "true" });
      expect(refused).toMatchObject({ status: 400, body: { error: "SIMULATION_REVERTED", parameter: "quoteId" } });
      expect(refused.body.message).toContain(`OutputBelowMinimum(amountOut ${amountOut}, amountOutMin ${minimum})`);
    }
  });
});

describe("tokens that keep their balances", () => {
  const others = KEEPINGS.map(keepingName).filter((name) => name !== "doubled");
  test.each(others)("%s are tried without any", async (name) => {
    const from = tokens.get(name)!;
    for (const by of [poor, createWallet().address]) {
      const quote = await quoteOf({ from, to: market.usdc, amount: 5n * E18, by }, { simulate: "true" });
      expect(quote.simulation).toMatchObject({ status: "ok", amountOut: quote.amountOut, funded: false });
    }
  });

  test("where no word is the balance, nobody says that the swap failed", async () => {
    const from = tokens.get("doubled")!;
    const sale = { from, to: market.usdc, amount: 5n * E18 };
    const quote = await quoteOf({ ...sale, by: poor });
    const { status, body } = await transactionOf(quote, { estimateGas: "true" });
    expect(status).toBe(200);
    expect(body.simulation).toMatchObject({ status: "skipped", funded: false, approved: false });
    expect(body.simulation.reason).toContain(`no word of storage could be proved to hold the balances of ${from}`);
    expect(body.gasLimit).toBe(quote.resourceEstimate.gasLimit);
    const owner = await quoteOf({ ...sale, by: chain.deployer }, { simulate: "true" });
    expect(owner.simulation).toMatchObject({ status: "ok", funded: true, approved: true, amountOut: owner.amountOut });
  });

  test("alongside the flag of a blocked account, the flag stays", async () => {
    const from = tokens.get("flagged behind a proxy")!;
    await slotTokens.block(chain, from, poor);
    const quote = await quoteOf({ from, to: market.usdc, amount: 5n * E18, by: poor }, { simulate: "true" });
    expect(quote.simulation).toMatchObject({ status: "failed", funded: false, reason: "with 0x00000000" });
  });
});

test("what has no wallet is not tried, and an ordinary quote has no simulation", async () => {
  const sale = { from: market.usdc, to: market.weth, amount: 3_000_000_000n, by: poor };
  const plain = await quoteOf(sale);
  expect(plain).not.toHaveProperty("simulation");
  expect((await transactionOf(plain, {})).body).not.toHaveProperty("simulation");
  expect((await transactionOf(plain, { estimateGas: "false", simulate: "false" })).body).not.toHaveProperty(
    "simulation",
  );
  const indicative = await client.get("/aggregator/quote", {
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    amount: "3000000000",
    slippage: "0.005",
    gasless: "false",
    simulate: "true",
  });
  expect(indicative.body.simulation).toMatchObject({ status: "skipped", funded: false, approved: false });
  const both = await client.get("/aggregator/quote/transaction", {
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    amount: "3000000000",
    slippage: "0.005",
    fromAddress: toAddress(poor),
    gasless: "false",
    estimateGas: "true",
  });
  expect(both.body.transaction.simulation).toMatchObject({ status: "ok", amountOut: both.body.quote.amountOut });
  expect(both.body.transaction.gasLimit).not.toBe(both.body.quote.resourceEstimate.gasLimit);
});
