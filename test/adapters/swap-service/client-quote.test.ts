import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { fly } from "../../../src/adapters/swap-service/fly/service.ts";
import { publicRouters } from "../../../src/adapters/swap-service/public-routers/service.ts";
import { AFFILIATE, OWNER, ROUTER, STRANGER, USDC, WETH } from "../../domain/guard/swap-samples.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { json, KEY, request, serviceWith, wireQuote } from "./client-fixture.ts";

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
      timeoutMs: "1800",
    });
    expect(requests[0]?.headers.apikey).toBe(KEY);
    expect(limiter.acquired).toEqual(["quote"]);
    expect(limiter.observed).toMatchObject([{ status: 200 }]);
  });

  it("asks only our own service for an answer in time: no other one knows the name", async () => {
    const { service, requests } = await serviceWith((_, response) => json(response, wireQuote), {
      kind: fly,
    });
    await service.quote(request);
    expect(requests[0]?.url.searchParams.has("timeoutMs")).toBe(false);
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

  it.each([
    ["null", { ...wireQuote, typedData: null, permit: null }],
    ["absent", { ...wireQuote, typedData: undefined }],
  ])("reads a quote whose typed data are %s: a public router has nothing to sign", async (_name, body) => {
    const plain = { ...request, gasless: false, affiliate: undefined };
    for (const kind of [publicRouters, fly]) {
      const { service } = await serviceWith((_, response) => json(response, body), { kind });
      const quote = await service.quote(plain);
      expect(quote).toMatchObject({ id: wireQuote.id, amountOut: 123_456_789_012_345_678_901n, targetAddress: ROUTER });
      expect(quote).toHaveProperty("typedData", undefined);
    }
  });

  const impact = (text: string) => JSON.stringify(wireQuote).replace('"0.0012345"', text);
  it.each([
    ["5e-7", 1n],
    ["5.4e-05", 54n],
    ["1.2345E-3", 1_235n],
    ['"1.5e-2"', 15_000n],
    ["1e0", 1_000_000n],
    ["2.5e+1", 25_000_000n],
    ["0e-99", 0n],
    ["1e-99", 1n],
    ["-0.0003", 0n],
    ['"-5e-7"', 0n],
  ])("reads a price impact of %s exactly, rounded up, and a gain as none", async (text, ppm) => {
    const { service } = await serviceWith((_, response) => json(response, impact(text)));
    expect(await service.quote(request)).toMatchObject({ priceImpact: ppm });
  });

  it.each([
    { blockNumber: "0x1a2b", resourceEstimate: { gasLimit: "0x3d090" } },
    { blockNumber: null, resourceEstimate: { gasLimit: 250_000.5 } },
    { blockNumber: { toString: 1 }, resourceEstimate: ["250000"] },
  ])("leaves out block and gas where they cannot be read: nothing rests on them", async (hints) => {
    const { service } = await serviceWith((_, response) => json(response, { ...wireQuote, ...hints }));
    expect(await service.quote(request)).toMatchObject({
      id: wireQuote.id,
      blockNumber: undefined,
      gasLimit: undefined,
    });
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
    ["an impact that is an object", { ...wireQuote, priceImpact: { toString: 1 } }, "quote.priceImpact"],
    ["an impact beyond any share", impact("1e8"), "quote.priceImpact"],
    ["an impact with a long exponent", impact("1e-999999999"), "quote.priceImpact"],
    ["an impact in per cent", impact('"0.05%"'), "quote.priceImpact"],
    ["an impact in a list", { ...wireQuote, priceImpact: ["0.01"] }, "quote.priceImpact"],
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
    [400, { message: "It takes 3%", code: 2010, error: "TOKEN_TAXED" }, "TOKEN_TAXED", false],
    [404, { message: "Couldn't recognize from token", code: 2003 }, "SERVICE_2003", false],
    [401, { message: "unknown key" }, "HTTP_401", false],
    [403, {}, "HTTP_403", false],
    [410, { message: "expired", error: "QUOTE_GONE" }, "QUOTE_GONE", true],
    [400, { message: "no", code: 1, error: "RECIPIENT_MISMATCH" }, "SERVICE_RECIPIENT_MISMATCH", false],
    [400, { message: "no", code: 1, error: "PERMIT_UNSUPPORTED" }, "SERVICE_PERMIT_UNSUPPORTED", false],
    [400, { message: "no", code: 1, error: "ANSWER_MALFORMED" }, "SERVICE_ANSWER_MALFORMED", false],
    [410, { message: "no", code: 2102, error: "QUOTE_EXPIRED" }, "QUOTE_EXPIRED", true],
    [404, { message: "in memory", code: 2108, error: "QUOTE_FORGOTTEN" }, "QUOTE_FORGOTTEN", true],
    [404, { message: "unknown", code: 2101, error: "QUOTE_UNKNOWN" }, "QUOTE_UNKNOWN", true],
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

  it.each<[string, unknown, number]>([
    ["as the name of its refusal", { error: KEY, message: "no" }, 400],
    ["in a field that is none", { ...wireQuote, amountOut: KEY }, 200],
    ["in a text that is too long", { ...wireQuote, id: `${KEY}${"x".repeat(300)}` }, 200],
  ])("does not see our key again %s", async (_, body, status) => {
    const { service, logger } = await serviceWith((__, response) => json(response, body, status));
    const refusal = await service.quote(request);
    expect(refusal).toMatchObject({ kind: "refused", code: status === 400 ? "HTTP_400" : "ANSWER_MALFORMED" });
    expect(JSON.stringify(refusal) + JSON.stringify(logger.lines)).not.toContain(KEY.slice(0, 12));
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
