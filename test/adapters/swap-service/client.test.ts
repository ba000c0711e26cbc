import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createSwapService, type SwapServiceOptions } from "../../../src/adapters/swap-service/client.ts";
import { swapdProfile } from "../../../src/adapters/swap-service/profiles/swapd.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { LimitedAnswer, RateLimiter } from "../../../src/ports/rate-limiter.ts";
import type { QuoteRequest } from "../../../src/ports/swap-service.ts";
import { AFFILIATE, OWNER, ROUTER, STRANGER, USDC, WETH } from "../../domain/guard/swap-samples.ts";
import { readBody, startHttpServer } from "../../support/http-server.ts";
import { silentLogger } from "../../support/silent-logger.ts";

const KEY = "canary-key-0123456789";
const HASH = `0x${"ab".repeat(32)}` as const;

const request: QuoteRequest = {
  sell: { symbol: "USDC", address: USDC, decimals: 6 },
  buy: { symbol: "WETH", address: WETH, decimals: 18 },
  amount: 100_000_000n,
  slippage: toPpm(5_000),
  owner: OWNER,
  recipient: STRANGER,
  gasless: true,
  enableRfq: true,
  affiliate: { address: AFFILIATE, fee: toPpm(10_000) },
};

const wireQuote = {
  id: "0b5f9a52-6b5c-4f43-9f1b-1c3f6f7f6a11",
  amountOut: "123456789012345678901",
  targetAddress: "0x1111111111111111111111111111111111111111",
  fees: [{ type: "gas", value: "42" }],
  resourceEstimate: { gasLimit: "210000" },
  typedData: {
    domain: { name: "swapd", version: "1", chainId: "31337", verifyingContract: ROUTER },
    types: { Swap: [{ name: "router", type: "address" }] },
    message: { router: ROUTER, deadline: 1_700_000_000 },
  },
  priceImpact: "0.0012345",
  expiresAt: 1_700_000_020,
  blockNumber: 7,
  somethingNew: { nobody: "knows" },
};

/** Lets every call pass at once, and remembers what it observed. */
function openLimiter(): RateLimiter & { readonly observed: LimitedAnswer[]; acquired: string[] } {
  const observed: LimitedAnswer[] = [];
  const acquired: string[] = [];
  return {
    observed,
    acquired,
    acquire: (priority) => {
      acquired.push(priority);
      return Promise.resolve("granted");
    },
    observe: (answer) => void observed.push(answer),
  };
}

async function serviceWith(
  handle: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  change: Partial<SwapServiceOptions> = {},
) {
  const requests: { method: string; url: URL; headers: IncomingMessage["headers"] }[] = [];
  const server = await startHttpServer((incoming, response) => {
    const url = new URL(incoming.url ?? "/", "http://service");
    requests.push({ method: incoming.method ?? "", url, headers: incoming.headers });
    handle(incoming, response, requests.length);
  });
  const limiter = openLimiter();
  const logger = silentLogger();
  const service = createSwapService(
    {
      profile: swapdProfile,
      baseUrl: `${server.url}/`,
      network: "sandbox",
      apiKey: new Secret(KEY),
      timeoutMs: 2_000,
      maxBytes: 64_000,
      ...change,
    },
    { limiter, clock: systemClock, logger },
  );
  return { service, requests, limiter, logger };
}

const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
};

describe("asking for a quote", () => {
  it("sends the names of working clients, the network and the key", async () => {
    const { service, requests, limiter } = await serviceWith((_, response) => json(response, wireQuote));
    await service.quote(request);
    expect(requests[0]?.url.pathname).toBe("/aggregator/quote");
    expect(Object.fromEntries(requests[0]?.url.searchParams ?? [])).toEqual({
      network: "sandbox",
      fromTokenAddress: USDC,
      toTokenAddress: WETH,
      sellAmount: "100000000",
      slippage: "0.005",
      fromAddress: OWNER,
      toAddress: STRANGER,
      gasless: "true",
      enableRFQ: "true",
      affiliateAddress: AFFILIATE,
      affiliateFeeInPercentage: "0.01",
    });
    expect(requests[0]?.headers.apikey).toBe(KEY);
    expect(limiter.acquired).toEqual(["quote"]);
    expect(limiter.observed.map((answer) => answer.status)).toEqual([200]);
  });

  it("does not mix the units of the two dialects", async () => {
    const { service, requests } = await serviceWith((_, response) => json(response, wireQuote), { dialect: "seed" });
    await service.quote(request);
    const query = requests[0]?.url.searchParams;
    expect(query?.get("amount")).toBe("100000000");
    expect(query?.get("affiliateFee")).toBe("1");
    expect(query?.has("sellAmount")).toBe(false);
    expect(query?.has("affiliateFeeInPercentage")).toBe(false);
  });

  it("reads either set of names without losing a digit", async () => {
    const { id, amountOut, ...rest } = wireQuote;
    const seedQuote = { ...rest, "quote-id": id, toTokenAmount: amountOut };
    for (const body of [wireQuote, seedQuote, { ...wireQuote, ...seedQuote }]) {
      const { service } = await serviceWith((_, response) => json(response, body));
      expect(await service.quote(request)).toMatchObject({
        id,
        amountOut: 123_456_789_012_345_678_901n,
        targetAddress: ROUTER,
        gasLimit: 210_000n,
        priceImpact: 1_235n,
        expiresAtSeconds: 1_700_000_020,
        fees: [{ type: "gas", value: "42" }],
        typedData: {
          primaryType: "Swap",
          domain: { name: "swapd", version: "1", chainId: "31337", verifyingContract: ROUTER },
          message: { router: ROUTER, deadline: "1700000000" },
        },
      });
    }
  });

  const amount = (text: string) => JSON.stringify(wireQuote).replace('"123456789012345678901"', text);
  it.each<[string, unknown, string]>([
    ["a number that a parser would round", amount("123456789012345678901"), "quote.amountOut"],
    ["an exponent", amount("1e18"), "quote.amountOut"],
    ["a negative amount", amount('"-1"'), "quote.amountOut"],
    ["an amount above uint256", amount(`"${1n << 256n}"`), "quote.amountOut"],
    ["a fraction", amount('"1.5"'), "quote.amountOut"],
    ["two different amounts", { ...wireQuote, toTokenAmount: "5" }, "toTokenAmount differs"],
    ["two different ids", { ...wireQuote, "quote-id": "x" }, "quote-id differs"],
    ["no amount", { ...wireQuote, amountOut: null }, "quote.amountOut is missing"],
    ["no id", { ...wireQuote, id: "" }, "quote.id is missing"],
    ["no target", { ...wireQuote, targetAddress: undefined }, "quote.targetAddress is missing"],
    ["a target that is no address", { ...wireQuote, targetAddress: "0x12" }, "quote.targetAddress"],
    ["an expiry that is no integer", { ...wireQuote, expiresAt: "soon" }, "quote.expiresAt"],
    ["typed data without a domain", { ...wireQuote, typedData: { types: {}, message: {} } }, "quote.typedData"],
    ["a list", [], "quote is no object"],
    ["null", "null", "quote is no object"],
  ])("refuses an answer with %s, and names the field", async (_name, body, problem) => {
    const { service, requests } = await serviceWith((_, response) => json(response, body));
    const refusal = await service.quote(request);
    expect(refusal).toMatchObject({ kind: "refused", code: "ANSWER_MALFORMED", retryable: false });
    expect("message" in refusal ? refusal.message : "").toContain(problem);
    expect(requests).toHaveLength(1);
  });

  it.each<[string, string]>([
    ["HTML", "<html>login</html>"],
    ["nothing", ""],
    ["a key twice", '{"id":"a","id":"b"}'],
    ["a key that reaches into objects", '{"__proto__":{"id":"a"}}'],
    ["deep nesting", "[".repeat(200)],
  ])("refuses %s instead of JSON", async (_name, body) => {
    const { service } = await serviceWith((_, response) => json(response, body));
    expect(await service.quote(request)).toMatchObject({ code: "ANSWER_NOT_JSON", retryable: false });
  });

  it("stops reading an answer that is too large", async () => {
    const { service } = await serviceWith((_, response) => json(response, JSON.stringify("x".repeat(100_000))));
    expect(await service.quote(request)).toMatchObject({ code: "ANSWER_TOO_LARGE", retryable: false });
  });

  it("does not take a quote out of a cache", async () => {
    const { service } = await serviceWith((_, response) => {
      response.setHeader("age", "12");
      json(response, wireQuote);
    });
    expect(await service.quote(request)).toMatchObject({ code: "ANSWER_CACHED", retryable: true });
  });
});

describe("a service that refuses or fails", () => {
  it("is asked again when only the moment speaks against it", async () => {
    for (const status of [429, 500, 503]) {
      const { service, requests } = await serviceWith((_, response, count) =>
        count === 1 ? json(response, { message: "later" }, status) : json(response, wireQuote),
      );
      expect(await service.quote(request)).toMatchObject({ id: wireQuote.id });
      expect(requests).toHaveLength(2);
    }
  });

  it("is not asked for ever", async () => {
    const { service, requests } = await serviceWith((_, response) => json(response, { message: "no" }, 503), {
      retries: 1,
    });
    expect(await service.quote(request)).toMatchObject({ code: "HTTP_503", status: 503, retryable: true });
    expect(requests).toHaveLength(2);
  });

  it.each<[number, object, string, boolean]>([
    [400, { message: "No route", code: 2069, error: "NO_ROUTE" }, "NO_ROUTE", false],
    [404, { message: "Couldn't recognize from token", code: 2003 }, "SERVICE_2003", false],
    [401, { message: "unknown key" }, "HTTP_401", false],
    [403, {}, "HTTP_403", false],
    [410, { message: "expired", error: "QUOTE_GONE" }, "QUOTE_GONE", true],
  ])("is believed when it answers %i", async (status, body, code, retryable) => {
    const { service, requests } = await serviceWith((_, response) => json(response, body, status));
    expect(await service.quote(request)).toMatchObject({ kind: "refused", code, status, retryable });
    expect(requests).toHaveLength(1);
  });

  it("does not see our key again in messages, nor control characters", async () => {
    const { service, logger } = await serviceWith((_, response) =>
      json(response, { message: `bad key ${KEY}\u001b[2J`, error: "bad name with spaces" }, 403),
    );
    const refusal = await service.quote(request);
    const seen = JSON.stringify(refusal) + JSON.stringify(logger.lines);
    expect(seen).not.toContain(KEY);
    expect(seen).not.toContain("\\u001b");
    expect(refusal).toMatchObject({ code: "HTTP_403" });
  });

  it("does not get our key at the place it redirects to", async () => {
    const other: IncomingMessage[] = [];
    const thief = await startHttpServer((incoming, response) => {
      other.push(incoming);
      json(response, wireQuote);
    });
    const { service } = await serviceWith((_, response) => {
      response.writeHead(307, { location: `${thief.url}/aggregator/quote` });
      response.end();
    });
    expect(await service.quote(request)).toMatchObject({ code: "REDIRECTED", retryable: false });
    expect(other).toHaveLength(0);
  });

  it("is given up when it drips, or hangs up", async () => {
    const slow = await serviceWith((_, response) => void response.write("{"), { timeoutMs: 150, retries: 0 });
    expect(await slow.service.quote(request)).toMatchObject({ code: "UNREACHABLE", retryable: true });
    const gone = await serviceWith((incoming) => void incoming.socket.destroy(), { retries: 0 });
    expect(await gone.service.quote(request)).toMatchObject({ code: "UNREACHABLE", retryable: true });
  });
});

describe("handing over a gasless swap", () => {
  const submission = {
    quoteId: wireQuote.id,
    swapSignature: `0x${"01".repeat(65)}`,
    permitSignature: `0x${"02".repeat(65)}`,
    permitDeadlineSeconds: 1_700_000_300,
  } as const;

  it("sends exactly the journaled signatures", async () => {
    let body: Promise<string> | undefined;
    const { service, requests } = await serviceWith((incoming, response) => {
      body = readBody(incoming);
      void body.then(() => json(response, { id: "swap_1", quoteId: wireQuote.id, status: "pending", hash: null }));
    });
    expect(await service.executeSwap(submission)).toEqual({
      kind: "accepted",
      serviceSwapId: "swap_1",
      hash: undefined,
    });
    expect(requests[0]).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
    expect(JSON.parse((await body) ?? "")).toEqual({
      networkName: "sandbox",
      quoteId: wireQuote.id,
      swapSignature: submission.swapSignature,
      permitSignature: submission.permitSignature,
      permitDeadline: 1_700_000_300,
    });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ["a 500 after it was sent", (response) => json(response, { message: "oops" }, 500)],
    ["a refusal", (response) => json(response, { message: "no" }, 400)],
    ["a rate limit", (response) => json(response, { message: "slow down" }, 429)],
    ["a lost answer", (response) => response.destroy()],
    ["half an answer", (response) => void response.writeHead(200, { "content-length": "50" }).write('{"id":')],
    ["an answer that is not JSON", (response) => json(response, "accepted")],
    ["an answer about another quote", (response) => json(response, { quoteId: "another" })],
  ])("is sent once and unknown after %s", async (_name, answer) => {
    const { service, requests } = await serviceWith((_, response) => answer(response), { timeoutMs: 300 });
    expect(await service.executeSwap(submission)).toMatchObject({ kind: "unknown" });
    expect(requests).toHaveLength(1);
  });
});

describe("the other questions", () => {
  it("reads a transaction strictly", async () => {
    const transaction = {
      from: OWNER,
      to: ROUTER,
      data: "0xABcd",
      value: "0",
      chainId: 31337,
      type: 2,
      gasLimit: "210000",
      maxFeePerGas: "1",
      maxPriorityFeePerGas: "1",
    };
    const good = await serviceWith((_, response) => json(response, transaction));
    expect(await good.service.transaction("quote")).toEqual({
      from: OWNER,
      to: ROUTER,
      data: "0xabcd",
      value: 0n,
      chainId: 31337,
      gasLimit: 210_000n,
    });
    expect(Object.fromEntries(good.requests[0]?.url.searchParams ?? [])).toEqual({
      quoteId: "quote",
      estimateGas: "false",
    });
    for (const broken of [{ to: null }, { data: "0x1" }, { value: "0x0" }, { chainId: "x" }, { value: undefined }]) {
      const { service } = await serviceWith((_, response) => json(response, { ...transaction, ...broken }));
      expect(await service.transaction("quote")).toMatchObject({ code: "ANSWER_MALFORMED" });
    }
  });

  it("asks for the swap's record with the urgency of a live swap", async () => {
    const body = { status: "success", hash: HASH, amountOut: "5", blockNumber: 12345678901234567890n.toString() };
    const { service, requests, limiter } = await serviceWith((_, response) => json(response, body));
    expect(await service.swapRecord({ quoteId: "q", hash: HASH })).toEqual({
      status: "success",
      hash: HASH,
      raw: body,
    });
    expect(Object.fromEntries(requests[0]?.url.searchParams ?? [])).toEqual({
      networkName: "sandbox",
      quoteId: "q",
      hash: HASH,
    });
    expect(limiter.acquired).toEqual(["status"]);
  });

  it("reads counts and refuses what is no count", async () => {
    const good = await serviceWith((_, response) => json(response, { pending: 1, success: "2", error: 0 }));
    expect(await good.service.statusCounts(OWNER)).toEqual({ pending: 1, success: 2, error: 0 });
    expect(good.requests[0]?.url.searchParams.get("walletAddress")).toBe(OWNER);
    const bad = await serviceWith((_, response) => json(response, { pending: -1 }));
    expect(await bad.service.statusCounts(OWNER)).toMatchObject({ code: "ANSWER_MALFORMED" });
  });

  it("keeps distributions as one canonical text", async () => {
    const text = '{ "b": [1.50, {"z":1e3,"a":"x"}], "a": 123456789012345678901 }';
    const { service } = await serviceWith((_, response) => json(response, text));
    expect(await service.distributions("q")).toBe('{"a":123456789012345678901,"b":[1.50,{"a":"x","z":1e3}]}');
  });

  it("tells that a call was never sent", async () => {
    const { service, requests, limiter } = await serviceWith((_, response) => json(response, wireQuote), {
      retries: 0,
    });
    limiter.acquire = () => Promise.resolve("queue full");
    expect(await service.quote(request)).toMatchObject({ code: "CALLS_QUEUED", retryable: true });
    expect(requests).toHaveLength(0);
  });
});
