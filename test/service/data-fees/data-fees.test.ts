import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { id, Transaction } from "ethers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Address } from "../../../src/domain/money/address.ts";
import type { NetworkOptions, RelayerOptions } from "../../../src/service/options.ts";
import { startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import {
  type Charges,
  charge,
  chargeGas,
  chargeUnknown,
  type RollupNode,
  startRollupNode,
} from "../support/op-stack.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";
import type { TestWallet } from "../support/wallet.ts";

const GWEI = 10n ** 9n;
/** A swap of one leg publishes about a thousand bytes: data costs about as much as gas here. */
const CHARGES: Charges = { perByte: 300n * GWEI, operatorScalar: 2_000_000n * GWEI, operatorConstant: 1_000n };
const FREE: Charges = { perByte: 0n, operatorScalar: 0n, operatorConstant: 0n };

let chain: TestChain;
let market: Market;
let node: RollupNode;
let names = 0;
const sellers: TestWallet[] = [];
const directory = mkdtempSync(join(tmpdir(), "swapd-data-fees-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  node = await startRollupNode(chain);
  while (sellers.length < 4) sellers.push(await newSeller(chain, market));
  await chain.rpc.call("evm_setAutomine", [false]);
});

afterAll(async () => {
  await node?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

async function mine(): Promise<void> {
  await chain.rpc.call("anvil_setNextBlockBaseFeePerGas", [`0x${GWEI.toString(16)}`]);
  await chain.rpc.call("evm_mine", []);
}

/** A block from which on data costs this; the service, where one runs, has seen it then. */
async function setCharges(charges: Charges, client?: Client): Promise<void> {
  await charge(chain, charges);
  await mine();
  if (client !== undefined) await sees(client);
}

/** Waits until the service quotes at the newest block, and gives what it answers there. */
async function sees(client: Client, path = "/aggregator/quote"): Promise<Answer> {
  const newest = Number(await chain.rpc.call("eth_blockNumber", []));
  for (let tries = 0; ; tries += 1) {
    const answer = await client.get(path, ownSwap());
    const { blockNumber } = answer.body.quote ?? answer.body;
    if ((answer.status === 200 && blockNumber >= newest) || tries === 200) return answer;
    await sleep(50);
  }
}

interface World {
  readonly client: Client;
  readonly database: string;
  readonly log: ReturnType<typeof createRecordingLogger>["lines"];
}

/** A service on a rollup, with a relayer of its own. */
async function start(dataFee: NetworkOptions["dataFee"], limits: Partial<RelayerOptions> = {}): Promise<World> {
  names += 1;
  const database = join(directory, `${names}.db`);
  const rollup = { ...chain, url: node.url };
  const relayer = relayerParts(rollup, id(database));
  await chain.rpc.call("anvil_setBalance", [relayer.signer.address, "0x8ac7230489e80000"]);
  // Data gets so dear here that one swap loses more than an address may of the usual limit.
  const relaying = { ...RELAYER_SETTINGS, maxDailyLoss: 10n ** 18n, ...limits };
  const options = serviceOptions(rollup, market, { database, network: { dataFee, relayer: relaying } });
  const relayers = new Map([["testnet", relayer]]);
  const logger = createRecordingLogger();
  const service = await startService(options, { logger, clock: systemClock, relayers });
  onTestFinished(() => service.stop());
  return { client: await createClient(service.url), database, log: logger.lines };
}

function ownSwap(from: Address = market.weth, amount = 10n ** 16n): Record<string, string> {
  return {
    fromTokenAddress: from,
    toTokenAddress: market.dai,
    amount: amount.toString(),
    slippage: "0.01",
    fromAddress: chain.deployer,
    gasless: "false",
  };
}

const feeOf = (quote: Answer["body"], type: string): bigint =>
  BigInt(quote.fees.find((fee: { type: string }) => fee.type === type).value);

/** The bytes that a quote's transaction publishes; 68 more for its signature, as the predeploy counts them. */
function publishedBytes({ to, data }: { to: string; data: string }): bigint {
  const fields = { type: 2, chainId: 31_337, nonce: 1, maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI };
  const unsigned = Transaction.from({ ...fields, gasLimit: 500_000n, to, data }).unsignedSerialized;
  return BigInt((unsigned.length - 2) / 2 + 68);
}

const isOver = (record: Answer["body"]) => record.status !== "pending";
const isSigned = (record: Answer["body"]) => record.hash !== null;

test("quotes count what data and operator take, in the gas fee and in the swap fee, at no call in a block that is known", async () => {
  await setCharges(FREE);
  const { client } = await start("op-stack");
  const seller = sellers[0] as TestWallet;
  const before = await client.get("/aggregator/quote/transaction", ownSwap());
  const longBefore = await client.get("/aggregator/quote/transaction", ownSwap(market.usdt, 10n ** 9n));
  const gaslessBefore = await gaslessQuote(client, market, seller);
  await setCharges(CHARGES, client);
  const after = await client.get("/aggregator/quote/transaction", ownSwap());
  const longAfter = await client.get("/aggregator/quote/transaction", ownSwap(market.usdt, 10n ** 9n));
  const gaslessAfter = await gaslessQuote(client, market, seller);
  const sizes: bigint[] = [];
  for (const [free, charged] of [
    [before, after],
    [longBefore, longAfter],
  ] as const) {
    const gas = feeOf(free.body.quote, "gas") / (2n * GWEI);
    const operator = (gas * CHARGES.operatorScalar) / 1_000_000n + CHARGES.operatorConstant;
    const size = publishedBytes(charged.body.transaction);
    const expected = size * CHARGES.perByte + operator;
    const more = feeOf(charged.body.quote, "gas") - feeOf(free.body.quote, "gas");
    // The samples have room for longer fees and nonces: a few bytes.
    expect(more).toBeGreaterThanOrEqual(expected);
    expect(more).toBeLessThan((expected * 102n) / 100n);
    sizes.push(size);
  }
  expect(sizes[1], "another number of legs").toBeGreaterThan(sizes[0] as bigint);

  const dearer = feeOf(gaslessAfter.body, "gas") - feeOf(gaslessBefore.body, "gas");
  const swapFeeMore = feeOf(gaslessAfter.body, "swap") - feeOf(gaslessBefore.body, "swap");
  // 3,000 dollars a coin, 6 decimals, and a quarter more for what moves until the swap is mined.
  const worth = (dearer * 3_000n * 125n) / 100n / 10n ** 12n;
  expect(Number(swapFeeMore)).toBeGreaterThan(Number(worth) * 0.97);
  expect(Number(swapFeeMore)).toBeLessThan(Number(worth) * 1.03);

  const calls = node.calls();
  for (let count = 0; count < 5; count += 1) {
    expect((await client.get("/aggregator/quote/transaction", ownSwap())).status).toBe(200);
  }
  expect(node.calls() - calls).toBe(0);
});

test("what data may come to cost counts in what a swap that is quoted could cost the relayer", async () => {
  await setCharges(FREE);
  const seller = sellers[0] as TestWallet;
  const { body: free } = await gaslessQuote((await start("op-stack")).client, market, seller);
  const forGas = BigInt(free.resourceEstimate.gasLimit) * 8n * GWEI;
  const { client } = await start("op-stack", { maxDailyLoss: forGas + 400n * 4n * CHARGES.perByte });
  expect(await gaslessQuote(client, market, seller)).toMatchObject({ status: 200 });
  await setCharges({ ...FREE, perByte: 50n * CHARGES.perByte }, client);
  const refused = await gaslessQuote(client, market, seller);
  expect(refused).toMatchObject({ status: 400, body: { error: "GASLESS_LOSS_LIMIT" } });
});

test("a swap whose fee pays its gas and not its data is refused by name", async () => {
  await setCharges(CHARGES);
  const { client } = await start("op-stack");
  const seller = sellers[0] as TestWallet;
  const { body: quote } = await gaslessQuote(client, market, seller);
  await setCharges({ ...CHARGES, perByte: CHARGES.perByte * 6n }, client);
  const refused = await submitOrder(client, seller, quote);
  expect(refused).toMatchObject({ status: 400, body: { error: "GASLESS_FEE_TOO_LOW" } });
  expect(refused.body.message).toMatch(
    /worth 0\.0\d+ of the native coin, and gas and its data \(0\.0\d+\) with the margin costs 0\.0\d+/,
  );
  await setCharges(CHARGES, client);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
});

test("an accepted swap waits while data is dear, and the books hold what the receipts say", async () => {
  await setCharges(CHARGES);
  const { client, database, log } = await start("op-stack");
  const quotes: Answer["body"][] = [];
  for (const seller of sellers.slice(1, 3)) {
    const { body: quote } = await gaslessQuote(client, market, seller);
    expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
    quotes.push(quote);
    await followSwap(client, quotes[0].id, isSigned);
  }
  const [first, second] = quotes;
  node.receiptsSay({ l1Fee: "0x470de4df820000", operatorFeeScalar: "0xf4240", operatorFeeConstant: "0x7" });
  await setCharges({ ...CHARGES, perByte: CHARGES.perByte * 6n }, client);
  await followSwap(client, first.id, isOver, mine);
  const waits = ({ fields }: (typeof log)[number]) => /gas and its data \(0\.0\d+\)/.test(String(fields.reason));
  for (let tries = 0; tries < 50 && !log.some(waits); tries += 1) await sleep(100);
  expect(log.find(waits)?.message).toBe("an accepted swap is not worth sending now");
  expect((await client.get("/user-manager/swap", { quoteId: second.id })).body).toMatchObject({ hash: null });
  const books = new Database(database, { readonly: true });
  onTestFinished(() => void books.close());
  const paidFor = async (quoteId: string) => {
    const { hash } = (await client.get("/user-manager/swap", { quoteId })).body;
    const receipt = (await chain.rpc.call("eth_getTransactionReceipt", [hash])) as Record<string, string>;
    const row = books
      .prepare(
        "SELECT gas_paid, loss, fee_worth, data_fee FROM relays JOIN relay_costs USING (intent_id) WHERE intent_id = ?",
      )
      .get(`relay-${quoteId}`) as Record<string, string>;
    const gasUsed = BigInt(receipt.gasUsed ?? "");
    return {
      beside: BigInt(row.gas_paid ?? "") - gasUsed * BigInt(receipt.effectiveGasPrice ?? ""),
      lost: BigInt(row.gas_paid ?? "") - BigInt(row.fee_worth ?? "") === BigInt(row.loss ?? ""),
      loss: BigInt(row.loss ?? ""),
      expected: BigInt(row.data_fee ?? ""),
      gasUsed,
    };
  };
  const reported = await paidFor(first.id);
  expect(reported.beside).toBe(2n * 10n ** 16n + reported.gasUsed + 7n);
  expect(reported.lost).toBe(true);
  expect(reported.loss).toBeGreaterThan(10n ** 16n);
  await setCharges(CHARGES, client);
  expect(await followSwap(client, second.id, isOver, mine)).toMatchObject({ status: "success" });
});

test("a receipt that reports no fee for data is booked with the one that was expected", async () => {
  node.receiptsSay(undefined);
  await setCharges(CHARGES);
  const { client, database } = await start("op-stack");
  const seller = sellers[3] as TestWallet;
  const { body: quote } = await gaslessQuote(client, market, seller);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
  const done = await followSwap(client, quote.id, isOver, mine);
  const receipt = (await chain.rpc.call("eth_getTransactionReceipt", [done.hash])) as Record<string, string>;
  const books = new Database(database, { readonly: true });
  onTestFinished(() => void books.close());
  const rows = books.prepare("SELECT gas_paid, data_fee FROM relays JOIN relay_costs USING (intent_id)").all();
  const [{ gas_paid, data_fee }] = rows as [{ gas_paid: string; data_fee: string }];
  const forGas = BigInt(receipt.gasUsed ?? "") * BigInt(receipt.effectiveGasPrice ?? "");
  expect(BigInt(data_fee)).toBeGreaterThan(900n * CHARGES.perByte);
  expect(BigInt(gas_paid)).toBe(forGas + BigInt(data_fee));
});

test("a rollup that does not tell its fee is not served as if it were free, and is served once it does", async () => {
  await chargeUnknown(chain);
  await mine();
  const { client } = await start("op-stack");
  const refused = await client.get("/aggregator/quote", ownSwap());
  expect(refused).toMatchObject({ status: 503, body: { error: "CHAIN_UNREACHABLE" } });
  expect(refused.body.message).toContain("0x420000000000000000000000000000000000000f does not report the fee for data");
  await setCharges(CHARGES);
  expect(await sees(client)).toMatchObject({ status: 200 });
});

test("where data takes gas, the gas limit of a quote has it, and the node's silence is reported", async () => {
  const { client } = await start("arbitrum");
  const refused = await client.get("/aggregator/quote", ownSwap());
  expect(refused).toMatchObject({ status: 503, body: { error: "CHAIN_UNREACHABLE" } });
  expect(refused.body.message).toContain("gasEstimateL1Component");
  const limits: bigint[] = [];
  let size = 0n;
  for (const perByte of [0n, 1_000n]) {
    await chargeGas(chain, perByte);
    await mine();
    const { body } = await sees(client, "/aggregator/quote/transaction");
    limits.push(BigInt(body.quote.resourceEstimate.gasLimit));
    size = BigInt((body.transaction.data.length - 2) / 2);
  }
  const [without = 0n, withData = 0n] = limits;
  // With the room that every gas limit has.
  expect(withData - without).toBeGreaterThan(size * 1_000n);
  expect(withData - without).toBeLessThan(size * 1_000n * 2n);
});
