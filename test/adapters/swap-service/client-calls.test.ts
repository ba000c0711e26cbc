import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { fly } from "../../../src/adapters/swap-service/fly/service.ts";
import { swapd } from "../../../src/adapters/swap-service/swapd/service.ts";
import type { RateLimiter } from "../../../src/ports/rate-limiter.ts";
import { OWNER, ROUTER } from "../../domain/guard/swap-samples.ts";
import { readBody } from "../../support/http-server.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { HASH, json, KEY, request, serviceWith, wireQuote } from "./client-fixture.ts";

const submission = {
  quoteId: wireQuote.id,
  swapSignature: `0x${"01".repeat(65)}`,
  permitSignature: `0x${"02".repeat(65)}`,
  permitDeadlineSeconds: 1_700_000_300,
} as const;

const free = async (): Promise<undefined> => undefined;

describe("handing over a gasless swap", () => {
  it("sends exactly the journaled signatures", async () => {
    let body: Promise<string> | undefined;
    const { service, requests } = await serviceWith((incoming, response) => {
      body = readBody(incoming);
      void body.then(() => json(response, { id: "swap_1", quoteId: wireQuote.id, status: "pending", hash: null }));
    });
    expect(await service.executeSwap(submission, free)).toEqual({
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
    ["an answer that names no swap", (response) => json(response, { message: "Insufficient balance", code: 2069 })],
    ["an empty answer", (response) => json(response, {})],
    ["an answer with an error", (response) => json(response, { id: "swap_1", error: { code: 2305, message: "no" } })],
    ["an answer of a swap that failed", (response) => json(response, { quoteId: wireQuote.id, status: "Error" })],
    ["an answer about another quote", (response) => json(response, { quoteId: "another" })],
  ])("is sent once and unknown after %s", async (_name, answer) => {
    const { service, requests } = await serviceWith((_, response) => answer(response), { timeoutMs: 300 });
    expect(await service.executeSwap(submission, free)).toMatchObject({ kind: "unknown" });
    expect(requests).toHaveLength(1);
  });

  it("asks at the instant of sending whether it may leave after all; of a call that was not made the pace hears nothing", async () => {
    const { service, requests, limiter } = await serviceWith((_, response) => json(response, {}));
    const observed: unknown[] = [];
    let reason: string | undefined;
    limiter.acquire = async () => {
      await Promise.resolve();
      reason = "halted by ops";
      return "granted";
    };
    limiter.observe = (answer) => void observed.push(answer);
    const outcome = await service.executeSwap(submission, async () => reason);
    expect(outcome).toEqual({ kind: "not-sent", detail: "halted by ops" });
    expect([requests, observed]).toEqual([[], []]);
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
      simulation: { status: "ok", amountOut: "1", funded: true, approved: true, blockNumber: 1 },
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
    const hexadecimal = await serviceWith((_, response) => json(response, { ...transaction, gasLimit: "0x33450" }));
    expect(await hexadecimal.service.transaction("quote")).toMatchObject({ to: ROUTER, gasLimit: undefined });
    for (const broken of [{ to: null }, { data: "0x1" }, { value: "0x0" }, { chainId: "x" }, { value: undefined }]) {
      const { service } = await serviceWith((_, response) => json(response, { ...transaction, ...broken }));
      expect(await service.transaction("quote")).toMatchObject({ code: "ANSWER_MALFORMED" });
    }
  });

  it.each([
    { id: "swap_1", error: null },
    { swapId: "swap_1", status: "pending", error: false, hash: "" },
    { hash: HASH },
    { quoteId: wireQuote.id },
  ])("takes %j for an acceptance", async (body) => {
    const { service } = await serviceWith((_, response) => json(response, body));
    expect(await service.executeSwap(submission, free)).toMatchObject({ kind: "accepted" });
  });

  it("does not see our key again in what is no count or no acceptance", async () => {
    const { service } = await serviceWith((_, response) => json(response, { [KEY]: "x", id: [KEY], hash: KEY }));
    const seen = [await service.statusCounts(OWNER), await service.executeSwap(submission, free)];
    expect(seen).toMatchObject([{ code: "ANSWER_MALFORMED" }, { kind: "unknown" }]);
    expect(JSON.stringify(seen)).not.toContain(KEY);
  });

  it("hears that a swap is pending however it is written, also with an empty hash", async () => {
    const body = { status: "PENDING", hash: "", transactionHash: "" };
    const { service } = await serviceWith((_, response) => json(response, body));
    expect(await service.swapRecord({ quoteId: "q", hash: undefined })).toEqual({
      ...{ status: "pending", hash: undefined, raw: body },
    });
    const hashed = await serviceWith((_, response) => json(response, { ...body, transactionHash: HASH }));
    expect(await hashed.service.swapRecord({ quoteId: "q", hash: undefined })).toMatchObject({ hash: HASH });
  });

  it("asks for the swap's record with the urgency of a live swap", async () => {
    const body = { status: "success", hash: HASH, amountOut: "5", blockNumber: 12345678901234567890n.toString() };
    const { service, requests, limiter } = await serviceWith((_, response) => json(response, body));
    expect(await service.swapRecord({ quoteId: "q", hash: HASH })).toEqual({
      status: "success",
      hash: HASH,
      raw: body,
    });
    // Our own service takes exactly one name of a swap.
    expect(Object.fromEntries(requests[0]?.url.searchParams ?? [])).toEqual({ networkName: "sandbox", quoteId: "q" });
    expect(limiter.acquired).toEqual(["status"]);
    const hosted = await serviceWith((_, response) => json(response, body), { kind: fly });
    await hosted.service.swapRecord({ quoteId: "q", hash: HASH });
    expect(Object.fromEntries(hosted.requests[0]?.url.searchParams ?? [])).toEqual({
      networkName: "sandbox",
      quoteId: "q",
      hash: HASH,
    });
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

  it("throws a mistake of our own, which no answer of the service is, and tells the pace that the call is over", async () => {
    const observed: unknown[] = [];
    const limiter: RateLimiter = { acquire: async () => "granted", observe: (answer) => void observed.push(answer) };
    const options = { chainId: 31_337, baseUrl: "http://127.0.0.1:1", network: "sandbox", apiKey: undefined };
    const mistake = async (): Promise<never> => {
      throw new TypeError("undefined is not a function");
    };
    const service = swapd.open(
      { ...options, timeoutMs: 2_000, maxBytes: 64_000 },
      { limiter, clock: systemClock, logger: silentLogger(), fetch: mistake },
    );
    await expect(service.quote(request)).rejects.toThrow(TypeError);
    await expect(service.executeSwap(submission, free)).rejects.toThrow(TypeError);
    expect(observed).toEqual(["lost", "lost"]);
  });

  it("reports that a call was never sent", async () => {
    const { service, requests, limiter } = await serviceWith((_, response) => json(response, wireQuote), {
      retries: 0,
    });
    limiter.acquire = () => Promise.resolve("queue full");
    expect(await service.quote(request)).toMatchObject({ code: "CALLS_QUEUED", retryable: true });
    expect(requests).toHaveLength(0);
  });
});
