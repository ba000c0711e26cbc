import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { readHead } from "../../../src/chain/at-block/head.ts";
import { createJsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { viewNode } from "../../../src/chain/storage/node-view.ts";
import type { Address } from "../../../src/domain/money/address.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { type Lie, type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";

const POOR = "0x00000000000000000000000000000000000b0b00" as Address;
const BALANCE_OF = "0x70a08231";

let chain: TestChain;
let market: Market;
let node: LyingNode;
let services: Service[] = [];
const directory = mkdtempSync(join(tmpdir(), "swapd-simulation-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  node = await startLyingNode(() => chain.url);
});

afterEach(async () => {
  node.lie(undefined);
  for (const service of services) await service.stop();
  services = [];
});

afterAll(async () => {
  await node?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

/** A service that knows nothing of any token yet. */
async function newClient(): Promise<Client> {
  const database = join(directory, `${Math.random()}.db`);
  const options = serviceOptions(chain, market, { database, network: { rpcUrls: [node.url] } });
  const service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  services.push(service);
  return createClient(service.url);
}

/** A quote with its transaction: of dollars, unless it is said otherwise. */
async function tried(client: Client, by: Address, options: Record<string, string> = { estimateGas: "true" }) {
  const answer: Answer = await client.get("/aggregator/quote/transaction", {
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    amount: "3000000000",
    slippage: "0.005",
    fromAddress: by,
    gasless: "false",
    ...options,
  });
  return { status: answer.status, error: answer.body.error, ...answer.body };
}

/** A node that has no such method. */
function without(method: string, but: (params: readonly unknown[]) => boolean = () => false): Lie {
  return (request) =>
    request.method === method && !but(request.params) ? { ...request, method: "eth_nothing" } : undefined;
}

function isViewOf(params: readonly unknown[], selector: string): boolean {
  return (params[0] as { data?: string }).data?.startsWith(selector) === true;
}

const METHODS = ["eth_estimateGas", "eth_simulateV1", "eth_createAccessList", "eth_getStorageAt"];

test("nobody who does not ask costs the node a call, and a token is looked into once", async () => {
  const client = await newClient();
  await tried(client, POOR, {});
  expect(METHODS.map((method) => node.requests(method))).toEqual([0, 0, 0, 0]);
  expect((await tried(client, POOR)).transaction.simulation.status).toBe("ok");
  // A balance and an allowance.
  expect(node.requests("eth_createAccessList")).toBe(2);
  expect((await tried(client, "0x00000000000000000000000000000000000b0b01" as Address)).status).toBe(200);
  expect(node.requests("eth_createAccessList")).toBe(2);
  const before = node.requests("eth_getStorageAt");
  expect((await tried(client, chain.deployer)).transaction.simulation).toMatchObject({ status: "ok", funded: true });
  expect(node.requests("eth_getStorageAt")).toBe(before);
});

test("a node without state overrides can only try wallets that have everything", async () => {
  node.lie(({ method, params }) => (method === "eth_call" ? { method, params: params.slice(0, 2) } : undefined));
  const client = await newClient();
  const poor = await tried(client, POOR);
  expect(poor.transaction.simulation).toMatchObject({ status: "skipped", funded: false, approved: false });
  expect(poor.transaction.simulation.reason).toMatch(/^the network's node takes no state overrides; fund and approve/);
  expect(poor.transaction.gasLimit).toBe(poor.quote.resourceEstimate.gasLimit);
  const owner = await tried(client, chain.deployer);
  expect(owner.transaction.simulation).toMatchObject({ status: "ok", amountOut: owner.quote.amountOut });
});

test("a node without access lists, or eth_simulateV1, or estimates under overrides reports as much as it can", async () => {
  const client = await newClient();
  node.lie(without("eth_createAccessList"));
  expect((await tried(client, POOR)).transaction.simulation.status).toBe("ok");
  node.lie(without("eth_simulateV1"));
  const unmeasured = await tried(client, POOR);
  expect(unmeasured.transaction.simulation.status).toBe("ok");
  expect(unmeasured.transaction.simulation).not.toHaveProperty("gasUsed");
  expect(unmeasured.transaction.gasLimit).not.toBe(unmeasured.quote.resourceEstimate.gasLimit);
  node.lie(without("eth_estimateGas", (params) => params.length < 3));
  const unestimated = await tried(client, POOR);
  expect(unestimated.transaction.simulation.status).toBe("ok");
  expect(unestimated.transaction.gasLimit).toBe(unestimated.quote.resourceEstimate.gasLimit);
});

test("nonsense is neither a result nor a failure of the swap", async () => {
  const client = await newClient();
  const swap = (await tried(client, POOR, {})).transaction.data.slice(0, 10);
  const onSwap = (answer: unknown, overridden: boolean): Lie => {
    return ({ method, params }) =>
      method === "eth_call" && isViewOf(params, swap) && params.length > 2 === overridden ? { answer } : undefined;
  };
  node.lie(onSwap("0x1234", true));
  const second = await tried(client, POOR);
  expect(second.transaction.simulation).toMatchObject({ status: "skipped", funded: false });
  expect(second.transaction.simulation.reason).toContain("did not answer properly");
  node.lie(onSwap(null, false));
  expect(await tried(client, POOR)).toMatchObject({ status: 503, error: "CHAIN_UNREACHABLE" });
  node.lie(without("eth_getStorageAt"));
  expect((await tried(client, POOR)).transaction.simulation.status).toBe("skipped");
});

test("a node that could not know an access list once is asked again, and no token is written off for it", async () => {
  const client = await newClient();
  node.lie(({ method, params }) => {
    if (method === "eth_createAccessList") return { method: "eth_nothing", params };
    return method === "eth_call" && isViewOf(params, BALANCE_OF) ? { method, params: params.slice(0, 2) } : undefined;
  });
  expect((await tried(client, POOR)).transaction.simulation.status).toBe("skipped");
  node.lie(undefined);
  expect((await tried(client, POOR)).transaction.simulation.status).toBe("ok");
});

test("an endless access list costs a bounded number of calls, and proves nothing", async () => {
  const client = await newClient();
  await tried(client, POOR, {});
  const keys = Array.from({ length: 50_000 }, (_, index) => `0x${index.toString(16).padStart(64, "0")}`);
  const list = { accessList: [{ address: market.usdc, storageKeys: keys }] };
  node.lie(({ method, params }) => {
    if (method === "eth_createAccessList") return { answer: list };
    // Whatever the view is reported, it says what the chain has.
    return method === "eth_call" && isViewOf(params, BALANCE_OF) ? { method, params: params.slice(0, 2) } : undefined;
  });
  const before = node.requests("eth_call");
  const { transaction } = await tried(client, POOR);
  expect(transaction.simulation).toMatchObject({ status: "skipped" });
  expect(transaction.simulation.reason).toContain(`the balances of ${market.usdc}`);
  expect(node.requests("eth_call") - before).toBeLessThan(30);
  const again = node.requests("eth_createAccessList");
  await tried(client, POOR);
  expect(node.requests("eth_createAccessList"), "a token without such a word is not searched each time").toBe(again);
});

test("a word that is the balance no more is not believed, and found again", async () => {
  const client = await newClient();
  expect((await tried(client, POOR)).transaction.simulation.status).toBe("ok");
  node.lie(({ method, params }) =>
    method === "eth_call" && isViewOf(params, BALANCE_OF) && params.length > 2
      ? { answer: `0x${"0".repeat(63)}7` }
      : undefined,
  );
  expect((await tried(client, POOR)).transaction.simulation).toMatchObject({ status: "skipped", funded: false });
  node.lie(undefined);
  const before = node.requests("eth_createAccessList");
  expect((await tried(client, POOR)).transaction.simulation.status).toBe("ok");
  expect(node.requests("eth_createAccessList")).toBe(before + 1);
});

test("a token that notifies nobody's balance is tried as the chain is", async () => {
  const client = await newClient();
  await tried(client, POOR, {});
  node.lie(({ method, params: [call, ...rest] }) =>
    method === "eth_call" && isViewOf([call], BALANCE_OF)
      ? { method, params: [{ ...(call as object), data: "0xdeadbeef" }, ...rest] }
      : undefined,
  );
  expect((await tried(client, POOR)).transaction.simulation).toMatchObject({ status: "skipped", funded: false });
  // Who could sell it has it.
  const { simulation } = (await tried(client, chain.deployer)).transaction;
  expect(simulation).toMatchObject({ status: "ok", funded: true, approved: true });
});

test("a node that stays silent is waited for as long as a simulation may take, and no longer", async () => {
  const head = await readHead(chain.rpc);
  const silent: Server = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const view = viewNode(createJsonRpc({ url, timeoutMs: 30_000, maxBytes: 1_000 }), head, 100);
  const started = performance.now();
  await expect(view.ask([{ method: "eth_chainId", params: [] }])).rejects.toThrow(RpcError);
  await expect(view.ask([{ method: "eth_chainId", params: [] }])).rejects.toThrow(RpcError);
  expect(performance.now() - started).toBeLessThan(5_000);
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});
