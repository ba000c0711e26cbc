import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { NetworkOptions } from "../../../src/service/options.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { createHandClock } from "../support/hand-clock.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
const clock = createHandClock(1_900_000_000_500);
const directory = mkdtempSync(join(tmpdir(), "swapd-service-"));
const COUNTS = "/user-manager/status-counts";
const WALLET = { walletAddress: "0x00000000000000000000000000000000000000aa" };

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const options = serviceOptions(chain, market, {
    database: join(directory, "service.db"),
    limits: { keyless: 3, keyed: 5 },
  });
  service = await startService(options, { logger: createRecordingLogger(), clock });
  client = await createClient(service.url);
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

function limitsOf(headers: Headers) {
  return [
    "X-RateLimit-Limit-Second",
    "X-RateLimit-Remaining-Second",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
  ].map((name) => headers.get(name));
}

describe("rate limits", () => {
  test("are reported in five headers on every answer of the interface, and refuse with Retry-After", async () => {
    clock.advance(1_000);
    for (const remaining of ["2", "1", "0"]) {
      const { status, headers } = await client.get(COUNTS, WALLET);
      expect(status).toBe(200);
      expect(limitsOf(headers)).toEqual(["3", remaining, "3", remaining, "1"]);
    }
    const refused = await client.get(COUNTS, WALLET);
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ message: "API rate limit exceeded" });
    expect(refused.headers.get("Retry-After")).toBe("1");
    expect(limitsOf(refused.headers)).toEqual(["3", "0", "3", "0", "1"]);
    const keyed = await client.get(COUNTS, WALLET, { apikey: "test-key" });
    expect(limitsOf(keyed.headers)).toEqual(["5", "4", "5", "4", "1"]);
    clock.advance(1_000);
    expect((await client.get(COUNTS, WALLET)).status).toBe(200);
  });

  test("answer an unknown key with 401, and count it by address so that keys cannot be guessed", async () => {
    clock.advance(1_000);
    for (let guess = 0; guess < 3; guess += 1) {
      const answer = await client.get(COUNTS, WALLET, { apikey: `guess-${guess}` });
      expect(answer).toMatchObject({ status: 401, body: { error: "API_KEY_UNKNOWN" } });
    }
    expect((await client.get(COUNTS, WALLET, { apikey: "guess-3" })).status).toBe(429);
  });

  test("also count requests that are refused for their content, and looks at the health by themselves", async () => {
    clock.advance(1_000);
    expect((await client.get("/aggregator/quote")).headers.get("RateLimit-Remaining")).toBe("2");
    expect((await client.get("/aggregator/quote")).headers.get("RateLimit-Remaining")).toBe("1");
    const health = await client.get("/health");
    expect(health.body).toMatchObject({ status: "ok", network: "testnet", gasless: false });
    expect(health.headers.get("RateLimit-Remaining")).toBe("2");
  });
});

describe("sizes and shapes are bounded", () => {
  const path = "/user-manager/execute-swap";

  test("a body beyond 64 KiB, no JSON, no object, another content type", async () => {
    clock.advance(1_000);
    expect(await client.post(path, { quoteId: "x".repeat(70_000) })).toMatchObject({
      status: 413,
      body: { error: "BODY_TOO_LARGE" },
    });
    expect(await client.post(path, "{")).toMatchObject({ status: 400, body: { error: "BODY_MALFORMED" } });
    expect(await client.post(path, "[]")).toMatchObject({ status: 400, body: { error: "BODY_MALFORMED" } });
    clock.advance(1_000);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await client.post(path, "a=1", form)).toMatchObject({
      status: 415,
      body: { error: "CONTENT_TYPE_UNSUPPORTED" },
    });
    expect(await client.post(path, {})).toMatchObject({ status: 400, body: { parameter: "networkName" } });
  });

  test("a URL beyond 4096 characters, and headers beyond 16 KiB", async () => {
    clock.advance(1_000);
    expect(await client.get(COUNTS, { walletAddress: "a".repeat(5_000) })).toMatchObject({ status: 414 });
    expect(await client.get(COUNTS, WALLET, { padding: "a".repeat(17_000) })).toMatchObject({ status: 431 });
  });

  test("what is no HTTP at all gets an answer and loses its connection", async () => {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.end("NONSENSE\r\n\r\n");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    await once(socket, "close");
    expect(Buffer.concat(chunks).toString()).toContain('"REQUEST_MALFORMED"');
  });

  test("a path that cannot be decoded, without repeating it", async () => {
    const response = await fetch(`${service.url}/aggregator/%zz`);
    expect(response.status).toBe(400);
    const body = await response.json();
    expect(body).toMatchObject({ error: "REQUEST_MALFORMED" });
    expect(JSON.stringify(body)).not.toContain("%zz");
  });

  test("an endpoint that does not exist", async () => {
    const response = await fetch(`${service.url}/aggregator/nothing`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: "ENDPOINT_UNKNOWN" });
  });
});

test("a quote cannot be used from the second on that it named as its end", async () => {
  clock.advance(1_000);
  const request = {
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    amount: "1000000",
    slippage: "0.01",
    fromAddress: chain.deployer,
    gasless: "false",
  };
  const { body } = await client.get("/aggregator/quote", request);
  clock.set(body.expiresAt * 1000 - 1);
  expect((await client.get("/aggregator/transaction", { quoteId: body.id })).status).toBe(200);
  clock.set(body.expiresAt * 1000);
  const expired = await client.get("/aggregator/transaction", { quoteId: body.id });
  expect(expired).toMatchObject({ status: 410, body: { error: "QUOTE_EXPIRED", parameter: "quoteId" } });
  expect(await client.get("/aggregator/distributions", { quoteId: body.id })).toMatchObject({ status: 410 });
  // It held for 20 s; after as long again the next quote makes the service forget it.
  clock.set(body.expiresAt * 1000 + 20_000);
  await client.get("/aggregator/quote", request);
  expect(await client.get("/aggregator/distributions", { quoteId: body.id })).toMatchObject({ status: 404 });
});

test("an answer of the node that fails is 503, and the log names its host, not its address", async () => {
  const broken = await startTestChain();
  onTestFinished(() => broken.stop());
  const logger = createRecordingLogger();
  const own = await deployMarket(broken);
  const network = { rpcUrls: [`${broken.url}/?key=secret-key-in-url`] };
  const options = serviceOptions(broken, own, { database: join(directory, "broken.db"), network });
  const lonely = await startService(options, { logger, clock });
  const caller = await createClient(lonely.url);
  await broken.stop();
  const request = {
    fromTokenAddress: own.usdc,
    toTokenAddress: own.weth,
    amount: "1",
    slippage: "0",
    gasless: "false",
  };
  expect(await caller.get("/aggregator/quote", request)).toMatchObject({
    status: 503,
    body: { error: "CHAIN_UNREACHABLE" },
  });
  await expect.poll(async () => (await caller.get("/health")).status).toBe(503);
  expect(JSON.stringify(logger.lines)).not.toContain("secret-key-in-url");
  expect(logger.lines.some(({ level }) => level === "error")).toBe(true);
  await lonely.stop();
});

test("contracts that are not the configured ones end the service, and it names the difference", async () => {
  const swapped = [...market.protocols].reverse();
  const wrong: readonly [Partial<NetworkOptions>, string][] = [
    [{ settlement: market.usdc }, "has no executor()"],
    [{ executor: market.weth }, "the settlement's executor is"],
    [{ protocols: market.protocols.slice(0, 1) }, "number of the executor's protocols"],
    [{ protocols: swapped }, "the executor's protocol 0"],
  ];
  await Promise.all(
    wrong.map(async ([network, message], index) => {
      const options = serviceOptions(chain, market, { database: join(directory, `refused-${index}.db`), network });
      const refused = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
      await expect(refused.failed).resolves.toMatchObject({ message: expect.stringContaining(message) });
      await refused.stop();
    }),
  );
});

test("a second service on the same database is refused, because both would send from one account", async () => {
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  const second = startService(options, { logger: createRecordingLogger(), clock });
  await expect(second).rejects.toThrow("is in use by another service");
});

test("a start that fails leaves neither a locked database nor a port behind", async () => {
  const port = Number(new URL(service.url).port);
  const options = serviceOptions(chain, market, { database: join(directory, "port.db") });
  const dependencies = { logger: createRecordingLogger(), clock };
  const taken = { ...options, listen: { host: "127.0.0.1", port } };
  await expect(startService(taken, dependencies)).rejects.toThrow("EADDRINUSE");
  const free = await startService(options, dependencies);
  await free.stop();
});
