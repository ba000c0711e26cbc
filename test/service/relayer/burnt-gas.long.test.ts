import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { id } from "ethers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient, withHeaders } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";
import type { TestWallet } from "../support/wallet.ts";

const HOSTILE = loadContract("HostileToken").abi;
const E18 = 10n ** 18n;
const GWEI = 10n ** 9n;
const MOST_SWAPS = 14;

let chain: TestChain;
let market: Market;
let hostile: Address;
let names = 0;
const directory = mkdtempSync(join(tmpdir(), "swapd-burnt-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  hostile = await market.newToken(18, "HostileToken");
  await market.newPair(market.weth, hostile, { amountA: 50n * E18, amountB: 1_000_000n * E18 });
});

afterAll(async () => {
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

interface World {
  readonly relayer: Address;
  /** a client of this address, as a proxy reports it, or with the operator's key */
  from(caller: "key" | number): Client;
}

/** A relayer whose transactions into the hostile token use up all their gas, and revert, whatever simulations say. */
async function startWorld(maxDailyLoss: bigint, { isListed }: { isListed: boolean }): Promise<World> {
  names += 1;
  const database = join(directory, `${names}.db`);
  const parts = relayerParts(chain, id(database));
  const relayer = parts.signer.address;
  await chain.rpc.call("anvil_setBalance", [relayer, "0x8ac7230489e80000"]);
  await chain.send({ to: hostile, data: HOSTILE.encodeFunctionData("burnGasOf", [relayer]) as Hex });
  const { networks, ...options } = serviceOptions(chain, market, {
    database,
    network: { relayer: { ...RELAYER_SETTINGS, maxDailyLoss } },
    trustedProxies: ["127.0.0.1"],
  });
  const more = isListed ? [{ address: hostile, feed: undefined }] : [];
  const own = networks.map((network) => ({ ...network, listedTokens: [...network.listedTokens, ...more] }));
  const dependencies = { logger: createRecordingLogger(), clock: systemClock, relayers: new Map([["testnet", parts]]) };
  const service = await startService({ ...options, networks: own }, dependencies);
  onTestFinished(() => service.stop());
  const client = await createClient(service.url);
  const headersOf = (caller: "key" | number): Record<string, string> =>
    caller === "key" ? { apikey: "test-key" } : { "x-forwarded-for": `192.0.2.${caller}` };
  return { relayer, from: (caller) => withHeaders(client, headersOf(caller)) };
}

const nativeOf = async (account: Address) =>
  BigInt((await chain.rpc.call("eth_getBalance", [account, "latest"])) as Hex);

const intoHostile = (client: Client, owner: TestWallet): Promise<Answer> =>
  client.get("/aggregator/quote", {
    network: "testnet",
    fromTokenAddress: market.usdc,
    toTokenAddress: hostile,
    sellAmount: "1000000000",
    slippage: "0.2",
    fromAddress: owner.address,
    gasless: "true",
  });

function over(client: Client, quoteId: string): Promise<Answer["body"]> {
  const mine = () => chain.rpc.call("evm_mine", []);
  return followSwap(client, quoteId, ({ status }) => status !== "pending", mine);
}

/** Hands swaps over, each of a new wallet, until one is refused. @returns how many were sent, and the refusal's name */
async function burn(clientOf: (swap: number) => Client): Promise<{ sent: number; refusal: string }> {
  for (let sent = 0; sent < MOST_SWAPS; sent += 1) {
    const client = clientOf(sent);
    const owner = await newSeller(chain, market);
    const quoted = await intoHostile(client, owner);
    const answer = quoted.status === 200 ? await submitOrder(client, owner, quoted.body) : quoted;
    if (answer.status !== 200) return { sent, refusal: answer.body.error };
    expect(await over(client, quoted.body.id)).toMatchObject({ status: "error" });
  }
  return { sent: MOST_SWAPS, refusal: "" };
}

/** Hands so many over at the same time, each of a new wallet, before the first of them is sent. */
async function burnAtOnce(client: Client, count: number): Promise<void> {
  const handed: { owner: TestWallet; quote: Answer["body"] }[] = [];
  for (let swap = 0; swap < count; swap += 1) {
    const owner = await newSeller(chain, market);
    handed.push({ owner, quote: (await intoHostile(client, owner)).body });
  }
  const answers = await Promise.all(handed.map(({ owner, quote }) => submitOrder(client, owner, quote)));
  expect(answers.map(({ status }) => status)).toEqual(handed.map(() => 200));
}

async function expectFill(client: Client): Promise<void> {
  const owner = await newSeller(chain, market);
  const { body: quote } = await gaslessQuote(client, market, owner);
  expect(await submitOrder(client, owner, quote)).toMatchObject({ status: 200 });
  expect(await over(client, quote.id)).toMatchObject({ status: "success" });
}

/** What a swap into the hostile token costs the relayer that burns all its gas, by what another relayer lost. */
async function costOfOne(): Promise<bigint> {
  const { relayer, from } = await startWorld(10n * E18, { isListed: true });
  const before = await nativeOf(relayer);
  const client = from(1);
  const owner = await newSeller(chain, market);
  const { body: quote } = await intoHostile(client, owner);
  expect(await submitOrder(client, owner, quote)).toMatchObject({ status: 200 });
  expect(await over(client, quote.id)).toMatchObject({ status: "error" });
  const cost = before - (await nativeOf(relayer));
  // Nearly all of the gas limit, which no honest revert uses up.
  expect(cost).toBeGreaterThan((BigInt(quote.resourceEstimate.gasLimit) * GWEI * 9n) / 10n);
  return cost;
}

test("an address whose swaps burn all their gas on the chain alone, each of a new wallet, shuts out itself", async () => {
  const cost = await costOfOne();
  const maxDailyLoss = cost * 12n;
  const { relayer, from } = await startWorld(maxDailyLoss, { isListed: true });
  const before = await nativeOf(relayer);
  const { refusal } = await burn(() => from(1));
  expect(refusal).toBe("GASLESS_STANDING");
  expect(before - (await nativeOf(relayer))).toBeLessThan(maxDailyLoss / 4n);
  await expectFill(from("key"));
  await expectFill(from(2));
});

test("swaps that an address submits at once, before the first one burns its gas, cost no more than one by one", async () => {
  const cost = await costOfOne();
  const maxDailyLoss = cost * 12n;
  const { relayer, from } = await startWorld(maxDailyLoss, { isListed: true });
  const before = await nativeOf(relayer);
  await burnAtOnce(from(1), 8);
  // It is sent after all that came before it and still may be.
  await expectFill(from("key"));
  const lost = before - (await nativeOf(relayer));
  expect(lost).toBeGreaterThan(cost / 2n);
  expect(lost).toBeLessThan(maxDailyLoss / 4n);
  await expectFill(from(2));
});

test("strangers who bring a new address for each burnt swap shut out strangers, and nobody who has a key", async () => {
  const cost = await costOfOne();
  const maxDailyLoss = cost * 12n;
  const { relayer, from } = await startWorld(maxDailyLoss, { isListed: true });
  const before = await nativeOf(relayer);
  const { refusal, sent } = await burn((swap) => from(swap + 1));
  expect(sent).toBeGreaterThan(1);
  expect(refusal).toBe("GASLESS_LOSS_LIMIT");
  expect(before - (await nativeOf(relayer))).toBeLessThanOrEqual(maxDailyLoss / 2n);
  await expectFill(from("key"));
});

test("a token that the operator does not list burns a tenth of what may be lost, anyone who brings it", async () => {
  const cost = await costOfOne();
  const maxDailyLoss = cost * 40n;
  const { relayer, from } = await startWorld(maxDailyLoss, { isListed: false });
  const before = await nativeOf(relayer);
  const { sent, refusal } = await burn((swap) => from(swap % 2 === 0 ? "key" : swap));
  expect(sent).toBeGreaterThan(0);
  expect(refusal).toBe("GASLESS_LOSS_LIMIT");
  expect(before - (await nativeOf(relayer))).toBeLessThanOrEqual(maxDailyLoss / 10n);
  await expectFill(from("key"));
  await expectFill(from(100));
});
