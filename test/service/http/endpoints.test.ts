import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { type Lie, type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";

const DEAD = "http://127.0.0.1:9";
/** Longer than any rest. */
const RESTED_MS = 3_600_000;

let chain: TestChain;
let market: Market;
let folder: string;
let lives = 0;

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  folder = mkdtempSync(join(tmpdir(), "swapd-endpoints-"));
});

afterAll(async () => {
  await chain?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A service of these endpoints, and how its time is moved. */
async function start(rpcUrls: readonly string[]) {
  lives += 1;
  const skew = { monotonicMs: 0, nowMs: 0 };
  const clock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + skew.monotonicMs,
    nowMs: () => systemClock.nowMs() + skew.nowMs,
  };
  const logger = createRecordingLogger();
  const database = join(folder, `${lives}.db`);
  const options = serviceOptions(chain, market, { database, network: { rpcUrls } });
  const service = await startService(options, { logger, clock });
  onTestFinished(() => service.stop());
  return { client: await createClient(service.url), skew, logger };
}

async function front(target = chain.url): Promise<LyingNode> {
  const node = await startLyingNode(() => target);
  onTestFinished(() => node.stop());
  return node;
}

async function answering(status: number): Promise<string> {
  const server = await startHttpServer((_request, response) => void response.writeHead(status).end("no"));
  return server.url;
}

async function lying(lie: Lie): Promise<string> {
  const node = await front();
  node.lie(lie);
  return node.url;
}

const toMethod =
  (method: string, answer: unknown): Lie =>
  (request) =>
    request.method === method ? { answer } : undefined;

function quote(client: Client) {
  const parameters = { amount: "1000000000", slippage: "0.01", gasless: "false" };
  return client.get("/aggregator/quote", {
    ...parameters,
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
  });
}

const newest = async (): Promise<number> => Number(await chain.rpc.call("eth_blockNumber", []));

/** Quotes until one satisfies; a question that is under way ends as it began. */
async function quoteUntil(client: Client, isEnough: (answer: Awaited<ReturnType<typeof quote>>) => boolean) {
  for (let answer = await quote(client), tries = 0; ; answer = await quote(client), tries += 1) {
    if (isEnough(answer) || tries > 100) return answer;
    await sleep(50);
  }
}

/** What the first of two endpoints may be. */
const FIRST: readonly { name: string; open(): Promise<string> }[] = [
  { name: "gone", open: async () => DEAD },
  { name: "silent", open: async () => (await startHttpServer(() => undefined)).url },
  { name: "used up (402)", open: () => answering(402) },
  { name: "asking for patience (429)", open: () => answering(429) },
  { name: "broken (502)", open: () => answering(502) },
  { name: "of another chain", open: () => lying(toMethod("eth_chainId", "0x1")) },
  { name: "without contracts", open: () => lying(toMethod("eth_call", "0x")) },
  { name: "without a newest block", open: () => lying(toMethod("eth_getBlockByNumber", null)) },
];

test.each(FIRST)("a first endpoint that is $name leaves the quotes to the second one", async ({ open }) => {
  const { client, logger } = await start([await open(), chain.url]);
  expect(await quote(client)).toMatchObject({ status: 200 });
  expect(logger.lines.map(({ message }) => message)).toContain(
    "an endpoint cannot be used now; the next one is asked before it",
  );
});

test("an endpoint that ends while the service runs is replaced by the next one, and used again when it is back", async () => {
  let target = chain.url;
  const first = await startLyingNode(() => target);
  onTestFinished(() => first.stop());
  const second = await front();
  const { client, skew, logger } = await start([first.url, second.url]);
  expect((await quote(client)).status).toBe(200);
  expect(second.requests("eth_call"), "while the first is well").toBe(0);
  target = DEAD;
  await chain.rpc.call("anvil_mine", ["0x1"]);
  const block = await newest();
  const answer = await quoteUntil(client, ({ body }) => body.blockNumber === block);
  expect(answer).toMatchObject({ status: 200, body: { blockNumber: block } });
  target = chain.url;
  skew.monotonicMs += RESTED_MS;
  const isBack = () => logger.lines.some(({ message }) => message === "an endpoint can be used again");
  await quoteUntil(client, isBack);
  const before = second.requests("eth_call");
  await chain.rpc.call("anvil_mine", ["0x1"]);
  await quoteUntil(client, ({ body }) => body.blockNumber === block + 1);
  expect(first.requests("eth_call")).toBeGreaterThan(0);
  expect(second.requests("eth_call"), "after the first is back").toBe(before);
});

test("an endpoint that stands still is left for one that moves; where none moves the first one stays", async () => {
  const first = await front();
  const second = await front();
  const { client, skew } = await start([first.url, second.url]);
  const old = await newest();
  const standing = await chain.rpc.call("eth_getBlockByNumber", ["latest", false]);
  first.lie(({ method, params }) =>
    method === "eth_getBlockByNumber" && params[0] === "latest" ? { answer: standing } : undefined,
  );
  skew.nowMs += 60_000;
  skew.monotonicMs += RESTED_MS;
  expect((await quote(client)).body.blockNumber).toBe(old);
  const before = second.requests("eth_call");
  await chain.rpc.call("evm_increaseTime", [5]);
  await chain.rpc.call("anvil_mine", ["0x1"]);
  expect((await quote(client)).body.blockNumber, "it was compared a moment ago").toBe(old);
  skew.monotonicMs += RESTED_MS;
  expect((await quote(client)).body.blockNumber).toBe(old + 1);
  expect(second.requests("eth_call")).toBeGreaterThan(before);
});

test("calls that one endpoint refuses go to the next as a whole: no endpoint is asked about another's block", async () => {
  const first = await front();
  const second = await front();
  const before = (await chain.rpc.call("eth_getBlockByNumber", ["latest", false])) as { hash: string };
  await chain.rpc.call("anvil_mine", ["0x1"]);
  const pinned: { readonly first: unknown[]; readonly second: unknown[] } = { first: [], second: [] };
  const isLatest = (request: Parameters<Lie>[0]) =>
    request.method === "eth_getBlockByNumber" && request.params[0] === "latest";
  let isRefusing = false;
  first.lie((request) => {
    if (isLatest(request)) return { answer: before };
    if (request.method === "eth_call") pinned.first.push(request.params[1]);
    return isRefusing && request.method === "eth_call" ? { method: "eth_noSuchMethod", params: [] } : undefined;
  });
  second.lie((request) => {
    if (request.method === "eth_call") pinned.second.push(request.params[1]);
    return undefined;
  });
  const { client } = await start([first.url, second.url]);
  isRefusing = true;
  const { body } = await quoteUntil(client, ({ status }) => status === 200);
  const hashes = (pins: readonly unknown[]) =>
    new Set(
      pins.flatMap((pin) => (typeof pin === "object" && pin !== null && "blockHash" in pin ? [pin.blockHash] : [])),
    );
  expect(body.blockNumber).toBe(await newest());
  expect(hashes(pinned.first)).toEqual(new Set([before.hash]));
  expect(hashes(pinned.second)).not.toContain(before.hash);
  expect(hashes(pinned.second).size).toBe(1);
});
