import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createServiceCalls, type ServiceCallOptions } from "../../../src/adapters/swap-service/service-calls.ts";
import { Secret } from "../../../src/net/secret.ts";
import { readBody, startHttpServer } from "../../support/http-server.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { json, KEY } from "./client-fixture.ts";

/** Calls of a service with its own ways, and what reached it. */
async function callsTo(
  handle: (response: ServerResponse, count: number) => void,
  own: Partial<ServiceCallOptions> = {},
) {
  const seen: { headers: IncomingMessage["headers"]; body: string; url: string | undefined }[] = [];
  const server = await startHttpServer(async (request, response) => {
    seen.push({ headers: request.headers, body: await readBody(request), url: request.url });
    handle(response, seen.length);
  });
  const limiter = { acquire: async () => "granted" as const, observe: () => undefined };
  const options = { baseUrl: server.url, apiKey: new Secret(KEY), timeoutMs: 2_000, maxBytes: 64_000, ...own };
  return { seen, calls: createServiceCalls(options, { limiter, clock: systemClock, logger: silentLogger() }) };
}

describe("the calls of a service", () => {
  it("carry the key where the service wants it, and what it asks for without a key", async () => {
    const headers = (key: string | undefined) => ({ "x-version": "2", ...(key && { authorization: `Bearer ${key}` }) });
    const { calls, seen } = await callsTo((response) => json(response, {}), { headers });
    await calls.get("/offers", new URLSearchParams({ give: "1" }), "quote");
    const keyless = await callsTo((response) => json(response, {}), { headers, apiKey: undefined });
    await keyless.calls.get("/offers", new URLSearchParams(), "quote");
    expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, "x-version": "2" });
    expect(seen[0]?.headers.apikey).toBeUndefined();
    expect(keyless.seen[0]?.headers.authorization).toBeUndefined();
    expect([seen[0]?.url, keyless.seen[0]?.url]).toEqual(["/offers?give=1", "/offers"]);
  });

  it("report a refusal by the names that the service gives to its parts, and never the key in its words", async () => {
    const body = { problem: "NO_STOCK", detail: `nothing left for ${KEY}`, message: "unused" };
    const refusalFields = { name: "problem", message: "detail" };
    const { calls } = await callsTo((response) => json(response, body, 400), { refusalFields });
    const answer = await calls.get("/offers", new URLSearchParams(), "quote");
    expect(answer).toMatchObject({ kind: "refused", code: "NO_STOCK", retryable: false });
    expect(JSON.stringify(answer)).not.toContain(KEY);
  });

  it("report the words of a refusal however many there are, up to what fits into a line", async () => {
    const words = `the token's transfers fail: ${"9".repeat(240)}`;
    const { calls } = await callsTo((response, count) => json(response, { message: words.repeat(count) }, 400));
    const short = await calls.get("/offers", new URLSearchParams(), "quote");
    expect(short).toMatchObject({ kind: "refused", message: expect.stringContaining(` answered 400: ${words}`) });
    const long = await calls.get("/offers", new URLSearchParams(), "quote");
    expect(long).toMatchObject({
      message: expect.stringMatching(/ answered 400: the token's transfers fail: .{272}$/),
    });
  });

  it("repeat a question that is asked by POST while only the moment speaks against it, and nothing else", async () => {
    const passing = await callsTo((response, count) => json(response, { count }, count === 1 ? 503 : 200));
    expect(await passing.calls.ask("/offers", { give: "1" }, "quote")).toMatchObject({ kind: "answer" });
    expect(passing.seen.map(({ body }) => body)).toEqual(['{"give":"1"}', '{"give":"1"}']);
    const sent = await callsTo((response) => json(response, {}, 503));
    expect(await sent.calls.post("/orders", {}, async () => undefined)).toMatchObject({ kind: "refused", status: 503 });
    expect(sent.seen).toHaveLength(1);
  });
});
