import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { ERRORS } from "../../../src/service/errors/errors.ts";
import { ENDPOINTS } from "../../../src/service/http/endpoints.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { createHandClock } from "../support/hand-clock.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
let quoteId: string;
const clock = createHandClock(1_900_000_000_500);
const directory = mkdtempSync(join(tmpdir(), "swapd-service-"));
const NETWORK = "testnet";
const LIMIT = 40;

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const database = join(directory, "service.db");
  const options = serviceOptions(chain, market, {
    database,
    limits: { keyless: LIMIT, keyed: 2 * LIMIT },
    metrics: { host: "127.0.0.1", port: 0 },
  });
  service = await startService(options, { logger: createRecordingLogger(), clock });
  client = await createClient(service.url);
  quoteId = (await client.get("/aggregator/quote", quoteRequest())).body.id;
});

beforeEach(() => clock.advance(1_000));

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

function quoteRequest(): Record<string, string> {
  return {
    network: NETWORK,
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    sellAmount: "3000000000",
    slippage: "0.005",
    fromAddress: chain.deployer,
    gasless: "false",
  };
}

type Path = (typeof ENDPOINTS)[keyof typeof ENDPOINTS]["path"];

/** A request that each endpoint answers with what it documents; gasless swaps have a test of their own. */
function goodRequests(): Record<Path, { request: Record<string, unknown>; status: number }> {
  const wallet = { walletAddress: chain.deployer };
  return {
    "/aggregator/quote": { request: { ...quoteRequest(), simulate: "true" }, status: 200 },
    "/aggregator/quote/transaction": { request: { ...quoteRequest(), estimateGas: "true" }, status: 200 },
    "/aggregator/transaction": { request: { quoteId, estimateGas: "true", simulate: "true" }, status: 200 },
    "/aggregator/distributions": { request: { quoteId }, status: 200 },
    "/user-manager/execute-swap": {
      request: { networkName: NETWORK, quoteId, swapSignature: `0x${"1".repeat(130)}` },
      status: 400,
    },
    "/user-manager/swap": { request: { quoteId }, status: 404 },
    "/user-manager/status-counts": { request: wallet, status: 200 },
    "/aggregator/liquidity-sources": { request: { networkName: NETWORK }, status: 200 },
    "/token-manager/networks": { request: {}, status: 200 },
    "/token-manager/token": { request: { address: NATIVE_TOKEN }, status: 200 },
    "/token-manager/tokens": { request: { networkNames: [NETWORK] }, status: 200 },
    "/balance-manager/balances": {
      request: { networkNames: [NETWORK], walletAddresses: [chain.deployer] },
      status: 200,
    },
    "/balance-manager/allowance": {
      request: { ...wallet, tokenAddress: market.usdc, spenderAddress: market.settlement },
      status: 200,
    },
  };
}

function send(path: Path, request: Record<string, unknown>, headers: Record<string, string> = {}) {
  const { method } = Object.values(ENDPOINTS).find((endpoint) => endpoint.path === path)!;
  if (method === "POST") return client.post(path, request, headers);
  return client.get(path, request as Record<string, string>, headers);
}

// The client holds status, body and headers of every answer against the document.
describe.each(Object.values(ENDPOINTS).map(({ path }) => path))("%s answers as documented", (path) => {
  test("to a good request, in the limits that its headers report", async () => {
    const { request, status } = goodRequests()[path];
    const answer = await send(path, request);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(answer.headers.get("RateLimit-Limit")).toBe(String(LIMIT));
    const keyed = await send(path, request, { apikey: "test-key" });
    expect(keyed.headers.get("RateLimit-Limit")).toBe(String(2 * LIMIT));
  });

  test("to requests without each required parameter, and with nonsense in each", async () => {
    const { request } = goodRequests()[path];
    for (const name of Object.keys(request)) {
      const { [name]: _, ...rest } = request;
      const missing = await send(path, rest);
      if (missing.status === 400) expect(missing.body.error).toMatch(/^(PARAMETER_|QUOTE_)/);
      const nonsense = await send(path, { ...request, [name]: "\u0000nonsense" });
      expect(nonsense.status, `${name} of ${path}`).toBeGreaterThanOrEqual(400);
      expect(nonsense.status, `${name} of ${path}`).toBeLessThan(500);
    }
  });

  test("to a key that nobody has, a URL and headers that are too long, and beyond the limit", async () => {
    const { request } = goodRequests()[path];
    expect((await send(path, request, { apikey: "nobody" })).body.error).toBe("API_KEY_UNKNOWN");
    expect((await send(path, request, { padding: "a".repeat(17_000) })).body.error).toBe("HEADERS_TOO_LARGE");
    const long = await client.long(path, "a".repeat(5_000));
    expect(long.body.error).toBe("URL_TOO_LONG");
    let last = long;
    for (let count = 0; count < LIMIT && last.status !== 429; count += 1) last = await send(path, {});
    expect(last).toMatchObject({ status: 429, body: { message: "API rate limit exceeded" } });
  });

  test("to a body that is none", async () => {
    const { method } = Object.values(ENDPOINTS).find((endpoint) => endpoint.path === path)!;
    if (method === "GET") return;
    expect((await client.post(path, "{")).body.error).toBe("BODY_MALFORMED");
    expect((await client.post(path, "[]")).body.error).toBe("BODY_MALFORMED");
    expect((await client.post(path, "")).body.error).toBe("BODY_MALFORMED");
    expect((await client.post(path, { a: "x".repeat(70_000) })).body.error).toBe("BODY_TOO_LARGE");
    const text = { "content-type": "text/plain" };
    expect((await client.post(path, "a", text)).body.error).toBe("CONTENT_TYPE_UNSUPPORTED");
  });
});

describe("the document", () => {
  test("names every endpoint once, resolves, and lists every error that an answer can have", async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string }>>;
      "x-errors": Record<string, unknown>;
    };
    expect(document.openapi).toBe("3.1.0");
    const served = Object.values(ENDPOINTS).map(({ path }) => path as string);
    expect(Object.keys(document.paths).sort()).toEqual([...served, "/health"].sort());
    const names = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(names.map(({ operationId }) => operationId)).size).toBe(names.length);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, "document");
    const text = JSON.stringify(document);
    for (const [, reference] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      expect(ajv.getSchema(`document${reference}`), reference).toBeDefined();
    }
    expect(Object.keys(document["x-errors"])).toEqual(Object.keys(ERRORS));
    const reachable = Object.keys(ERRORS).filter((name) => text.includes(`"${name}"`));
    expect(reachable).toEqual(Object.keys(ERRORS));
  });

  test("is a page for people, too, which loads and runs nothing", async () => {
    const response = await fetch(`${service.url}/docs`);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await response.text();
    for (const { method, path } of Object.values(ENDPOINTS)) expect(page).toContain(`${method} ${path}`);
    for (const name of Object.keys(ERRORS)) expect(page).toContain(name);
    expect(page).not.toMatch(/<script|<link|<img|src=|https?:/);
    expect(page).not.toContain("undefined");
  });
});

test("metrics are on an address of their own, and count answers, blocks and the process", async () => {
  const { request } = goodRequests()["/user-manager/status-counts"];
  await send("/user-manager/status-counts", request);
  const text = await (await fetch(`${service.metricsUrl}/metrics`)).text();
  expect(text).toMatch(/swapd_service_answers_total\{endpoint="\/user-manager\/status-counts",status="200"\} [1-9]/);
  expect(text).toMatch(/swapd_service_answer_seconds_bucket\{le="0.02",endpoint="\/aggregator\/quote"\} [1-9]/);
  expect(text).toMatch(/swapd_service_node_up\{network="testnet"\} 1/);
  expect(text).toMatch(/swapd_service_block\{network="testnet"\} [1-9]/);
  expect(text).toMatch(/swapd_service_requests_in_flight 0/);
  expect(text).toContain("nodejs_heap_size_used_bytes");
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
});
