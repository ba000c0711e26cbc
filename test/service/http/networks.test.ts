import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NetworkOptions, ServiceOptions } from "../../../src/service/options.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock as clock } from "../support/system-clock.ts";

/** Two chains behind one service: testnet with a relayer, othernet behind a node that can be taken away. */
let chain: TestChain;
let market: Market;
let other: { chain: TestChain; market: Market };
let node: LyingNode;
let target: string;
let options: ServiceOptions;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-networks-"));
const logger = createRecordingLogger();

async function start(): Promise<void> {
  const relayers = new Map([["testnet", relayerParts(chain, id("networks"))]]);
  service = await startService(options, { logger, clock, relayers });
  client = await createClient(service.url);
}

beforeAll(async () => {
  chain = await startTestChain();
  const otherChain = await startTestChain([], 31_338);
  other = { chain: otherChain, market: await deployMarket(otherChain) };
  market = await deployMarket(chain);
  target = otherChain.url;
  node = await startLyingNode(() => target);
  const parts = relayerParts(chain, id("networks"));
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const database = join(directory, "service.db");
  const ofOther = { name: "othernet", chainId: 31_338, rpcUrls: [node.url], executor: undefined };
  const first = serviceOptions(chain, market, { database, network: { relayer: RELAYER_SETTINGS } });
  const second = serviceOptions(otherChain, other.market, { database, network: ofOther });
  const metrics = { host: "127.0.0.1", port: 0 };
  options = { ...first, metrics, networks: [...first.networks, ...second.networks] };
  await start();
});

afterAll(async () => {
  await service?.stop();
  await node?.stop();
  await chain?.stop();
  await other?.chain.stop();
  rmSync(directory, { recursive: true, force: true });
});

function quote(more: Readonly<Record<string, string>>, { usdc, weth }: Market = market): Promise<Answer> {
  const swap = { fromTokenAddress: usdc, toTokenAddress: weth, amount: "1000000000", slippage: "0.01" };
  return client.get("/aggregator/quote", { ...swap, gasless: "false", ...more });
}

/** A node is asked again after a pause, and a snapshot is fresh for a moment. */
async function until(isThere: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isThere())) {
    expect(Date.now(), "it takes too long").toBeLessThan(deadline);
    await sleep(50);
  }
}

async function metric(name: string, network: string): Promise<string | undefined> {
  const text = await (await fetch(`${service.metricsUrl}/metrics`)).text();
  return text
    .split("\n")
    .find((line) => line.startsWith(`swapd_service_${name}{network="${network}"}`))
    ?.split(" ")[1];
}

describe("two networks of one service", () => {
  test("are distinguished by their names, and one has to be named", async () => {
    const fromAddress = chain.deployer;
    const here = await quote({ network: "testnet", fromAddress });
    expect(here).toMatchObject({ status: 200, body: { network: "testnet", targetAddress: market.settlement } });
    const there = await quote({ network: "othernet", fromAddress }, other.market);
    expect(there).toMatchObject({ status: 200, body: { network: "othernet", targetAddress: other.market.settlement } });
    expect(here.body.typedData?.domain?.chainId).not.toBe(there.body.typedData?.domain?.chainId);
    const unnamed = await quote({});
    expect(unnamed).toMatchObject({ status: 400, body: { error: "PARAMETER_MISSING", parameter: "network" } });
    expect(unnamed.body.message).toContain("served: testnet, othernet");
    expect(await quote({ network: "thirdnet" })).toMatchObject({ body: { error: "NETWORK_UNKNOWN" } });
    const { body: networks } = await client.get("/token-manager/networks");
    expect(networks.map((one: { chainId: number }) => one.chainId)).toEqual([31_337, 31_338]);
    // Each quote is found by its id alone, with its own network.
    for (const { body } of [here, there]) {
      const { body: transaction } = await client.get("/aggregator/transaction", { quoteId: body.id });
      expect(transaction).toMatchObject({ to: body.targetAddress });
    }
  });

  test("have their gasless swaps apart: only one has a relayer, and only it knows its quotes", async () => {
    const seller = await newSeller(chain, market);
    const { body: quoted } = await gaslessQuote(client, market, seller);
    const elsewhere = await client.post("/user-manager/execute-swap", {
      networkName: "othernet",
      quoteId: quoted.id,
      swapSignature: await seller.sign(quoted.typedData),
    });
    expect(elsewhere).toMatchObject({ status: 400, body: { error: "GASLESS_UNAVAILABLE" } });
    const refused = await quote({ network: "othernet", gasless: "true" }, other.market);
    expect(refused).toMatchObject({ status: 400, body: { error: "GASLESS_UNAVAILABLE" } });
    expect(await submitOrder(client, seller, quoted)).toMatchObject({ status: 200, body: { networkName: "testnet" } });
    const mine = () => chain.rpc.call("anvil_mine", ["0x1"]);
    await followSwap(client, quoted.id, ({ status }) => status === "success", mine);
    const counts = async (networkName?: string) => {
      const named = networkName === undefined ? {} : { networkName };
      const query = { walletAddress: seller.address, ...named };
      return (await client.get("/user-manager/status-counts", query)).body.success;
    };
    expect([await counts(), await counts("testnet"), await counts("othernet")]).toEqual([1, 1, 0]);
    const lost = await client.get("/user-manager/swap", { quoteId: quoted.id, networkName: "othernet" });
    expect(lost).toMatchObject({ body: { error: "SWAP_UNKNOWN" } });
  });

  test("do not fall together: without one's node the other goes on, and it comes back by itself", async () => {
    target = "http://127.0.0.1:9";
    await until(async () => (await quote({ network: "othernet" }, other.market)).status === 503);
    expect((await quote({ network: "testnet" })).status).toBe(200);
    const { status, body } = await client.get("/health");
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "degraded", network: "testnet", refusal: null, gasless: true });
    const gone = { network: "othernet", refusal: "CHAIN_UNREACHABLE", blockNumber: null };
    expect(body.networks).toMatchObject([{ network: "testnet", refusal: null }, gone]);
    expect([await metric("node_up", "testnet"), await metric("node_up", "othernet")]).toEqual(["1", "0"]);
    target = other.chain.url;
    await until(async () => (await quote({ network: "othernet" }, other.market)).status === 200);
    expect((await client.get("/health")).body).toMatchObject({ status: "ok" });
    const reported = logger.lines.filter(({ message }) => message.startsWith("the network's node can")).slice(-2);
    expect(reported.map(({ level }) => level)).toEqual(["error", "info"]);
  });

  test("start without one's node, keep the pools of both over it, and wait for no node in silence", async () => {
    await service.stop();
    const db = openDatabase({ file: options.database, readonly: true });
    const scopes = db.prepare("SELECT DISTINCT scope FROM pool_searches ORDER BY scope").pluck().all() as string[];
    db.close();
    expect(scopes.map((scope) => scope.split(" ")[0])).toEqual(["31337", "31338"]);
    target = "http://127.0.0.1:9";
    await start();
    expect((await quote({ network: "testnet" })).status).toBe(200);
    target = other.chain.url;
    let answer: () => void = () => undefined;
    node.before(() => new Promise<void>((resolve) => (answer = resolve)));
    const beganMs = performance.now();
    const [health, live] = await Promise.all([client.get("/health"), quote({ network: "testnet" })]);
    expect(live.status).toBe(200);
    expect(health.body).toMatchObject({ status: "degraded" });
    expect(performance.now() - beganMs).toBeLessThan(5_000);
    answer();
    await until(async () => (await quote({ network: "othernet" }, other.market)).status === 200);
  });

  test.each<[string, (networks: readonly NetworkOptions[]) => readonly NetworkOptions[], string]>([
    ["of one name", ([first, second]) => [first!, { ...second!, name: "testnet" }], "two networks are called testnet"],
    ["of one chain", ([first, second]) => [first!, { ...second!, chainId: 31_337 }], "are the same chain 31337"],
    ["that are none", () => [], "the service needs a network"],
    [
      "with pools of a kind that nobody knows",
      ([first]) => [{ ...first!, protocols: [{ ...first!.protocols[0]!, kind: 255 }] }],
      "on testnet: 255 is the number of no kind of pool; write one of 1 (uniswap-v2)",
    ],
  ])("%s are refused before anything is opened", async (_, change, message) => {
    const database = join(directory, "never.db");
    const networks = change(options.networks.map(({ relayer: _relayer, ...network }) => network));
    await expect(startService({ ...options, database, networks }, { logger, clock })).rejects.toThrow(message);
  });
});
