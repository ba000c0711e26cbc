import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { NetworkOptions } from "../../../src/service/options.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { type Lie, type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock as clock } from "../support/system-clock.ts";

let chain: TestChain;
let market: Market;
let node: LyingNode;
let folder: string;
let target: string;
let lives = 0;
const logger = createRecordingLogger();

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  node = await startLyingNode(() => target);
  folder = mkdtempSync(join(tmpdir(), "swapd-recovery-"));
});

afterAll(async () => {
  await node?.stop();
  await chain?.stop();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(makeWell);

function makeWell(): void {
  node.lie(undefined);
  node.say(undefined);
  target = chain.url;
}

const answering =
  (method: string, answer: unknown): Lie =>
  (request) =>
    request.method === method ? { answer } : undefined;

/** What may happen to a node, and whatever more the caller is reported. */
const FAILURES: readonly { name: string; fail: () => unknown; detail?: string }[] = [
  { name: "gone", fail: () => (target = "http://127.0.0.1:9") },
  {
    name: "of another chain",
    fail: () => node.lie(answering("eth_chainId", "0x1")),
    detail: "it serves chain 1 instead of 31337",
  },
  { name: "answering with a web page", fail: () => node.say("<html>Bad gateway</html>") },
  { name: "answering with JSON that is no answer", fail: () => node.say('{"jsonrpc":"2.0","id":0}') },
  { name: "without a newest block", fail: () => node.lie(answering("eth_getBlockByNumber", null)) },
  {
    name: "describing blocks without hashes",
    fail: () => node.lie(answering("eth_getBlockByNumber", { number: "0x1" })),
  },
  { name: "answering calls with nonsense", fail: () => node.lie(answering("eth_call", "0xabc")) },
  { name: "answering calls with numbers", fail: () => node.lie(answering("eth_call", 7)) },
];

async function start(change: Partial<NetworkOptions> = {}): Promise<{ service: Service; client: Client }> {
  lives += 1;
  const network = { rpcUrls: [node.url], ...change };
  const options = serviceOptions(chain, market, { database: join(folder, `${lives}.db`), network });
  const service = await startService(options, { logger, clock });
  return { service, client: await createClient(service.url) };
}

/** A quote may stand on the block before for a moment, and a question that is under way ends as it began. */
const WITHIN_MS = 5_000;

function quote(client: Client, more: Readonly<Record<string, string>> = {}) {
  const parameters = { amount: "1000000000", slippage: "0.01", gasless: "false", ...more };
  return client.get("/aggregator/quote", {
    ...parameters,
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
  });
}

async function quoteOf(status: number, client: Client) {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const answer = await quote(client);
    if (answer.status === status || Date.now() > deadline) return answer;
    await sleep(20);
  }
}

async function expectRefusal(client: Client, detail: string | undefined): Promise<void> {
  const refused = await quoteOf(503, client);
  expect(refused).toMatchObject({ status: 503, body: { error: "CHAIN_UNREACHABLE" } });
  if (detail !== undefined) expect(refused.body.message).toContain(detail);
}

describe.each(FAILURES)("a node that is $name", ({ fail, detail }) => {
  test("while the service runs is told to everybody, and quotes come back with it", async () => {
    makeWell();
    const { service, client } = await start();
    expect((await quote(client)).status).toBe(200);
    fail();
    // Calls are made again when there is a new block.
    await chain.rpc.call("anvil_mine", ["0x1"]);
    await expectRefusal(client, detail);
    makeWell();
    const { status, body } = await quoteOf(200, client);
    expect(status).toBe(200);
    expect(body.blockNumber).toBe(Number(await chain.rpc.call("eth_blockNumber", [])));
    await service.stop();
  });
});

/** Whatever a start asks for: the head, and the contracts' own views. */
const AT_THE_START = [...FAILURES.slice(0, 3), ...FAILURES.slice(-2)];

describe.each(AT_THE_START)("a node that is $name at the start", ({ fail, detail }) => {
  test("does not keep the service from starting, and quotes come with it", async () => {
    fail();
    const { service, client } = await start({ executor: undefined });
    const isReported = () =>
      logger.lines.some(({ level, message }) => level === "error" && message.includes("cannot be used"));
    await expect.poll(isReported).toBe(true);
    await expectRefusal(client, detail);
    makeWell();
    expect((await quoteOf(200, client)).status).toBe(200);
    await service.stop();
  });
});

describe("a settlement whose executor nobody configured", () => {
  test("is asked for it when the node answers: nothing can be bought for the executor, from the first quote on", async () => {
    target = "http://127.0.0.1:9";
    const { service, client } = await start({ executor: undefined });
    const toTheExecutor = { fromAddress: chain.deployer, toAddress: market.executor };
    expect((await quote(client, toTheExecutor)).status).toBe(503);
    makeWell();
    const refused = await quote(client, toTheExecutor);
    expect(refused).toMatchObject({ status: 400, body: { error: "RECIPIENT_FORBIDDEN", parameter: "toAddress" } });
    const firm = await quote(client, { fromAddress: chain.deployer });
    expect(firm).toMatchObject({ status: 200, body: { targetAddress: market.settlement } });
    await service.stop();
  });

  test("that is none of ours is refused by name when the node is there, and the log says what is different", async () => {
    target = "http://127.0.0.1:9";
    const { service, client } = await start({ settlement: market.usdc, executor: undefined });
    makeWell();
    const refused = await quote(client);
    expect(refused).toMatchObject({ status: 503, body: { error: "CONTRACTS_WRONG" } });
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        fields: expect.objectContaining({ error: expect.stringContaining("has no executor()") }),
      }),
    );
    await service.stop();
  });
});

test("a node that is read in a weaker mode than before is told in the log, with both modes", async () => {
  const { service, client } = await start();
  expect((await quote(client)).status).toBe(200);
  node.lie((request) => (request.params.length > 2 ? { ...request, params: ["no call"] } : undefined));
  const told = () => logger.lines.filter(({ message }) => message.includes("in another mode than before"));
  const deadline = Date.now() + WITHIN_MS;
  while (told().length === 0 && Date.now() < deadline) {
    await chain.rpc.call("anvil_mine", ["0x1"]);
    await quote(client);
    await sleep(20);
  }
  expect(told()).toMatchObject([{ level: "warn", fields: { readMode: "plain", modeBefore: "override" } }]);
  await service.stop();
});

describe("contracts that are not there", () => {
  /** So long a node says so before it is believed. */
  const BELIEVED_MS = 5_000;
  const sinceStart = (service: Service, ms: number) =>
    Promise.race([service.failed, sleep(ms).then(() => "nothing failed")]);

  test("while a node has just started are no reason to end, and quotes come with them", async () => {
    node.lie(answering("eth_call", "0x"));
    const { service, client } = await start();
    expect(await quote(client)).toMatchObject({ status: 503, body: { error: "CONTRACTS_WRONG" } });
    makeWell();
    expect((await quoteOf(200, client)).status).toBe(200);
    expect(await sinceStart(service, BELIEVED_MS + 1_000)).toBe("nothing failed");
    await service.stop();
  });

  test("while a node catches up are waited for; once it has they are a person's to correct", async () => {
    const hour = 3_600;
    const header = (await chain.rpc.call("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
    const old = { ...header, timestamp: `0x${(Number(header.timestamp) - hour).toString(16)}` };
    node.lie(({ method, params }) => {
      if (method === "eth_call") return { answer: "0x" };
      return method === "eth_getBlockByNumber" && params[0] === "latest" ? { answer: old } : undefined;
    });
    const { service, client } = await start();
    expect(await sinceStart(service, BELIEVED_MS + 3_000)).toBe("nothing failed");
    expect(await quote(client)).toMatchObject({ status: 503, body: { error: "CONTRACTS_WRONG" } });
    node.lie(answering("eth_call", "0x"));
    await chain.rpc.call("anvil_mine", ["0x1"]);
    await expect(service.failed).resolves.toMatchObject({ name: "WrongContractsError" });
    await service.stop();
  });

  test("where another contract stands end the service, once the node has said so for a while", async () => {
    const { service } = await start({ settlement: market.usdc, executor: undefined });
    expect(await sinceStart(service, 2_000)).toBe("nothing failed");
    await expect(service.failed).resolves.toMatchObject({ message: expect.stringContaining("has no executor()") });
    await service.stop();
  });
});
