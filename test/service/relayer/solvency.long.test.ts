import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Interface, id } from "ethers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import type { RelayerOptions } from "../../../src/service/options.ts";
import { startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient, withHeaders } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";
import { balanceOf, createWallet, type TestWallet } from "../support/wallet.ts";

const CALLS = new Interface([
  "function transfer(address to, uint256 amount) returns (bool)",
  "function cancelNonce(uint256 nonce)",
]);
const GWEI = 10n ** 9n;

let chain: TestChain;
let market: Market;
let names = 0;
const sellers: TestWallet[] = [];
/** somebody with dollars for many swaps */
let rich: TestWallet;
/** somebody with dollars for two swaps */
let twofold: TestWallet;
const SELLERS = 23;
const directory = mkdtempSync(join(tmpdir(), "swapd-solvency-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  while (sellers.length < SELLERS) sellers.push(await newSeller(chain, market));
  rich = await newSeller(chain, market, 50_000_000_000n);
  twofold = await newSeller(chain, market, 6_000_000_000n);
  await chain.rpc.call("evm_setAutomine", [false]);
});

afterAll(async () => {
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

async function metric(url: string | undefined, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`swapd_service_${name}\\{network="testnet"\\} ([0-9.e+]+)`).exec(text)?.[1]);
}

interface World {
  readonly client: Client;
  readonly metricsUrl: string | undefined;
  readonly relayer: Address;
  readonly log: ReturnType<typeof createRecordingLogger>["lines"];
  restart(): Promise<Client>;
}

/** A service with a relayer of its own; blocks come from `mine` only, at the given base fee. */
async function startWorld(change: Partial<RelayerOptions> = {}, lifetimeSeconds = 60): Promise<World> {
  names += 1;
  const database = join(directory, `${names}.db`);
  await mine(1, GWEI);
  const parts = relayerParts(chain, id(database));
  const relayer = parts.signer.address;
  await setBalance(relayer, 10n ** 19n);
  const logger = createRecordingLogger();
  const options = serviceOptions(chain, market, {
    database,
    network: { relayer: { ...RELAYER_SETTINGS, ...change } },
    quoteLifetimeSeconds: lifetimeSeconds,
    permitLifetimeSeconds: lifetimeSeconds,
    metrics: { host: "127.0.0.1", port: 0 },
  });
  const start = () => {
    const relayers = new Map([["testnet", relayerParts(chain, id(database))]]);
    return startService(options, { logger, clock: systemClock, relayers });
  };
  let service = await start();
  onTestFinished(() => service.stop());
  return {
    client: await createClient(service.url),
    metricsUrl: service.metricsUrl,
    relayer,
    log: logger.lines,
    async restart() {
      await service.stop();
      service = await start();
      return await createClient(service.url);
    },
  };
}

async function mine(blocks: number, baseFee?: bigint): Promise<void> {
  for (let block = 0; block < blocks; block += 1) {
    if (baseFee !== undefined) await chain.rpc.call("anvil_setNextBlockBaseFeePerGas", [`0x${baseFee.toString(16)}`]);
    await chain.rpc.call("evm_mine", []);
  }
}

async function setBalance(account: Address, wei: bigint): Promise<void> {
  await chain.rpc.call("anvil_setBalance", [account, `0x${wei.toString(16)}`]);
}

async function transactionsOf(account: Address): Promise<number> {
  return Number(await chain.rpc.call("eth_getTransactionCount", [account, "latest"]));
}

/** Puts a transaction of somebody's into the pool, ahead of what the relayer has there. */
async function sendAs(from: Address, to: Address, data: string): Promise<void> {
  await setBalance(from, 10n ** 18n);
  await chain.rpc.call("anvil_impersonateAccount", [from]);
  const fees = { gas: "0x30d40", maxFeePerGas: "0x4a817c800", maxPriorityFeePerGas: "0x2540be400" };
  await chain.rpc.call("eth_sendTransaction", [{ from, to, data, ...fees }]);
}

/** One of those who got their dollars while blocks still came by themselves. */
function nextSeller(): TestWallet {
  const seller = sellers.pop();
  if (seller === undefined) throw new Error("more sellers are needed than were made");
  return seller;
}

/** A seller with a swap that was accepted. */
async function accepted(client: Client): Promise<{ who: TestWallet; quote: Answer["body"] }> {
  const who = nextSeller();
  const { body: quote } = await gaslessQuote(client, market, who);
  const answer = await submitOrder(client, who, quote);
  expect(answer).toMatchObject({ status: 200, body: { status: "pending" } });
  return { who, quote };
}

const isSigned = (record: Answer["body"]) => record.hash !== null;
const isOver = (record: Answer["body"]) => record.status !== "pending";
/** Long enough for a turn of the lane, which looks twice a second. */
const aTurn = () => sleep(1_200);

describe("a relayer that is low on gas money", () => {
  test("refuses by name, before and after signing, and takes swaps again by itself when it is refilled", async () => {
    const { client, relayer, log, metricsUrl } = await startWorld({ minimumNativeBalance: 10n ** 18n });
    const who = nextSeller();
    const { body: quote } = await gaslessQuote(client, market, who);
    await setBalance(relayer, 10n ** 18n - 1n);
    await sleep(3_100);
    const refused = { status: 400, body: { error: "GASLESS_RELAYER_UNFUNDED", code: 2206 } };
    expect(await gaslessQuote(client, market, who)).toMatchObject(refused);
    expect(await submitOrder(client, who, quote)).toMatchObject(refused);
    const { body: health } = await client.get("/health");
    expect(health).toMatchObject({
      gasless: false,
      relayer: { refusal: "GASLESS_RELAYER_UNFUNDED", address: relayer },
    });
    // What it has, loses and may lose is for its operator.
    expect(Object.keys(health.relayer).sort()).toEqual(["address", "refusal"]);
    const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
    expect(metrics).toContain('swapd_service_gasless{network="testnet"} 0');
    expect(metrics).toContain('swapd_service_relayer_balance_gwei{network="testnet"} 999999999');
    await aTurn();
    expect(log.filter(({ message }) => message === "the relayer takes no gasless swaps")).toHaveLength(1);
    await setBalance(relayer, 10n ** 19n);
    await sleep(3_100);
    expect((await submitOrder(client, who, quote)).status).toBe(200);
    const { body: after } = await client.get("/health");
    expect(after).toMatchObject({ gasless: true, relayer: { refusal: null } });
    expect(await metric(metricsUrl, "relayer_pending")).toBe(1);
    expect(await followSwap(client, quote.id, isOver, () => mine(1, GWEI))).toMatchObject({ status: "success" });
    expect(log.some(({ message }) => message === "the relayer takes gasless swaps again")).toBe(true);
  });
});

describe("the relayer's one lane", () => {
  test("has five places for a wallet, also for swaps that are submitted at the same moment", async () => {
    const { client, metricsUrl } = await startWorld();
    const who = rich;
    const quotes = await Promise.all(Array.from({ length: 8 }, () => gaslessQuote(client, market, who)));
    const answers = await Promise.all(quotes.map(({ body }) => submitOrder(client, who, body)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const { body } of refused) expect(body).toMatchObject({ error: "GASLESS_UNAVAILABLE" });
    expect(await metric(metricsUrl, "relayer_pending")).toBe(5);
  });

  test("quotes nobody a swap that it would not take from him when it is signed", async () => {
    const { client } = await startWorld();
    const quotes = await Promise.all(Array.from({ length: 5 }, () => gaslessQuote(client, market, rich)));
    const taken = await Promise.all(quotes.map(({ body }) => submitOrder(client, rich, body)));
    expect(taken.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const ofWallet = await gaslessQuote(client, market, rich);
    expect(ofWallet).toMatchObject({ status: 400, body: { error: "GASLESS_UNAVAILABLE" } });
    expect(ofWallet.body.message).toContain("5 swaps of this wallet wait");
    const last = nextSeller();
    const { body: early } = await gaslessQuote(client, market, last);
    for (let place = 5; place < 10; place += 1) await accepted(client);
    for (const refused of [await gaslessQuote(client, market, last), await submitOrder(client, last, early)]) {
      expect(refused).toMatchObject({ status: 400, body: { error: "GASLESS_UNAVAILABLE" } });
      expect(refused.body.message).toContain("10 swaps that came from you wait");
    }
  });
});

describe("a wallet whose swap is in a block, and not yet in a final one", () => {
  test("sells the rest of its balance", async () => {
    const { client } = await startWorld();
    const who = twofold;
    const { body: first } = await gaslessQuote(client, market, who);
    expect((await submitOrder(client, who, first)).status).toBe(200);
    const { hash } = await followSwap(client, first.id, isSigned);
    // Mined before the node has it, the one block would be empty.
    await feesOf(hash);
    await mine(1, GWEI);
    await followSwap(client, first.id, (record) => record.blockNumber !== null);
    const { body: second } = await gaslessQuote(client, market, who);
    expect(await submitOrder(client, who, second)).toMatchObject({ status: 200, body: { status: "pending" } });
    expect((await client.get("/user-manager/swap", { quoteId: first.id })).body.status).toBe("pending");
  });
});

describe("a swap whose fee does not pay its gas", () => {
  test("is refused when gas got dearer since its quote", async () => {
    const { client, relayer } = await startWorld();
    const who = nextSeller();
    const { body: quote } = await gaslessQuote(client, market, who);
    await mine(1, 3n * GWEI);
    await aTurn();
    expect(await submitOrder(client, who, quote)).toMatchObject({
      status: 400,
      body: { error: "GASLESS_FEE_TOO_LOW" },
    });
    expect(await transactionsOf(relayer)).toBe(0);
  });

  test("waits unsigned while gas is dear behind another one, and is sent when it is cheap again", async () => {
    const { client, relayer } = await startWorld();
    const first = await accepted(client);
    await followSwap(client, first.quote.id, isSigned);
    const second = await accepted(client);
    await mine(4, 3n * GWEI);
    await followSwap(client, first.quote.id, isOver, () => mine(1, 3n * GWEI));
    await aTurn();
    expect((await client.get("/user-manager/swap", { quoteId: second.quote.id })).body).toMatchObject({
      status: "pending",
      hash: null,
    });
    const done = await followSwap(client, second.quote.id, isOver, () => mine(1, GWEI));
    expect(done.status).toBe("success");
    expect(await transactionsOf(relayer)).toBe(2);
  });
});

describe("a swap that stopped working while it waited", () => {
  test("is never sent, expires at its deadline with the reason, and holds up nobody", async () => {
    const { client, relayer } = await startWorld({}, 10);
    const first = await accepted(client);
    await followSwap(client, first.quote.id, isSigned);
    const poor = await accepted(client);
    const third = await accepted(client);
    const thief = createWallet().address;
    await sendAs(poor.who.address, market.usdc, CALLS.encodeFunctionData("transfer", [thief, 4_000_000_000n]));
    for (const { quote } of [first, third]) {
      expect(await followSwap(client, quote.id, isOver, () => mine(1, GWEI))).toMatchObject({ status: "success" });
    }
    const over = await followSwap(client, poor.quote.id, isOver, () => mine(1, GWEI));
    expect(over).toMatchObject({ status: "expired", hash: null });
    // Mined in the last moment it would revert, at the relayer's expense.
    const { deadline } = poor.quote.typedData.message;
    expect(over.transitions.at(-1).detail).toContain(`it was to be signed until ${Number(deadline) - 1},`);
    expect(over.transitions.at(-1).detail).toContain("ERC20InsufficientBalance");
    expect(await transactionsOf(relayer)).toBe(2);
    expect(await balanceOf(chain, market.usdc, poor.who.address)).toBe(1_000_000_000n);
  });

  test("ends as an error once a finalised block says that its owner cancelled it, not sooner", async () => {
    const { client, relayer } = await startWorld();
    const first = await accepted(client);
    await followSwap(client, first.quote.id, isSigned);
    const second = await accepted(client);
    const { nonce } = second.quote.typedData.message;
    await sendAs(second.who.address, market.settlement, CALLS.encodeFunctionData("cancelNonce", [nonce]));
    await mine(1, GWEI);
    await aTurn();
    expect((await client.get("/user-manager/swap", { quoteId: second.quote.id })).body.status).toBe("pending");
    const over = await followSwap(client, second.quote.id, isOver, () => mine(1, GWEI));
    expect(over).toMatchObject({ status: "error", hash: null, error: { code: 2306 } });
    expect(await followSwap(client, first.quote.id, isOver, () => mine(1, GWEI))).toMatchObject({ status: "success" });
    expect(await transactionsOf(relayer)).toBe(1);
  });
});

describe("losses", () => {
  test("of a day are limited, in the worst case too, and a restart forgets none", async () => {
    const probe = await startWorld();
    const { body: estimate } = await gaslessQuote(probe.client, market, nextSeller());
    const worst = BigInt(estimate.resourceEstimate.gasLimit) * 2n * (2n * GWEI);
    const world = await startWorld({ maxDailyLoss: (worst * 11n) / 10n });
    // Callers without a key have less.
    const withKey = (client: Client) => withHeaders(client, { apikey: "test-key" });
    const client = withKey(world.client);
    const late = nextSeller();
    const { body: early } = await gaslessQuote(client, market, late);
    const { who, quote } = await accepted(client);
    const { hash } = await followSwap(world.client, quote.id, isSigned);
    const before = await nativeOf(world.relayer);
    await sendAs(who.address, market.usdc, CALLS.encodeFunctionData("transfer", [market.weth, 4_000_000_000n]));
    const over = await followSwap(world.client, quote.id, isOver, () => mine(1, GWEI));
    expect(over).toMatchObject({ status: "error", hash, amountOut: null });
    const lost = before - (await nativeOf(world.relayer));
    expect(lost).toBeGreaterThan(0n);
    expect(await metric(world.metricsUrl, "relayer_losses_gwei")).toBeCloseTo(Number(lost) / 1e9, -1);
    const answers = [
      await submitOrder(client, late, early),
      await gaslessQuote(client, market, late),
      await gaslessQuote(withKey(await world.restart()), market, late),
    ];
    for (const refused of answers) {
      expect(refused).toMatchObject({ status: 400, body: { error: "GASLESS_LOSS_LIMIT" } });
      expect(refused.body.message).toContain("could cost more than is left");
      expect(refused.body.message).not.toMatch(/[0-9]{6}/);
    }
  });
});

async function nativeOf(account: Address): Promise<bigint> {
  return BigInt((await chain.rpc.call("eth_getBalance", [account, "latest"])) as Hex);
}

describe("on the chain", () => {
  test("a transaction that fees left behind is replaced by at least an eighth more, and lands once", async () => {
    const { client, relayer } = await startWorld();
    const { who, quote } = await accepted(client);
    const { hash } = await followSwap(client, quote.id, isSigned);
    const offered = await feesOf(hash);
    const dear = (offered.maxFeePerGas * 11n) / 10n;
    const done = await followSwap(client, quote.id, isOver, async () => {
      await mine(1, dear);
      await sleep(500);
    });
    expect(done.status).toBe("success");
    expect(done.hash).not.toBe(hash);
    const byTheFirst = await client.get("/user-manager/swap", { networkName: "testnet", hash });
    expect(byTheFirst).toMatchObject({ status: 200, body: { id: done.id, hash: done.hash, status: "success" } });
    const paid = await feesOf(done.hash);
    expect(paid.maxFeePerGas * 8n).toBeGreaterThanOrEqual(offered.maxFeePerGas * 9n);
    expect(paid.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(offered.maxPriorityFeePerGas * 9n);
    expect(await transactionsOf(relayer)).toBe(1);
    expect(await balanceOf(chain, market.usdc, who.address)).toBe(2_000_000_000n);
  });

  test("a reorganisation takes a fill back, and the record says so until the chain has it again", async () => {
    const { client, relayer } = await startWorld();
    await mine(3, GWEI);
    const { who, quote } = await accepted(client);
    await followSwap(client, quote.id, isSigned);
    await aTurn();
    await mine(1, GWEI);
    const mined = await followSwap(client, quote.id, (record) => record.blockNumber !== null);
    expect(mined).toMatchObject({ status: "pending" });
    expect(mined.amountOut).not.toBeNull();
    await chain.rpc.call("anvil_reorg", [1, []]);
    const back = await followSwap(client, quote.id, (record) => record.blockNumber === null);
    expect(back).toMatchObject({ status: "pending", amountOut: null });
    expect(await followSwap(client, quote.id, isOver, () => mine(1, GWEI))).toMatchObject({ status: "success" });
    expect(await transactionsOf(relayer)).toBe(1);
    expect(await balanceOf(chain, market.usdc, who.address)).toBe(2_000_000_000n);
  });
});

/** The record has a hash once it is signed; the node has the transaction a moment later. */
async function feesOf(hash: string): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const found = (await chain.rpc.call("eth_getTransactionByHash", [hash])) as Record<string, string> | null;
    if (found !== null) {
      const { maxFeePerGas = "0x0", maxPriorityFeePerGas = "0x0" } = found;
      return { maxFeePerGas: BigInt(maxFeePerGas), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) };
    }
    await sleep(50);
  }
  throw new Error(`no node has the transaction ${hash}`);
}
