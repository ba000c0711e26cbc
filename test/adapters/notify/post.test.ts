import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createPost } from "../../../src/adapters/notify/post.ts";
import { Secret } from "../../../src/net/secret.ts";
import { startReceiver } from "../../support/alert-receiver.ts";
import { NOW_MS } from "../../support/builders.ts";

const { signal } = new AbortController();
const post = async (url: string, timeoutMs = 2_000) =>
  await createPost({ timeoutMs, signal, nowMs: NOW_MS })({ url: new Secret(url), body: "{}", refusals: [422] });

test("a redirect is refused, and what it points to hears nothing", async () => {
  const elsewhere = await startReceiver();
  const { url } = await startReceiver((response) => void response.writeHead(307, { location: elsewhere.url }).end());
  expect(await post(`${url}/key`)).toMatchObject({ kind: "later", detail: expect.stringContaining("redirect") });
  expect(elsewhere.received).toEqual([]);
});

test.each([300, 400, 401, 403, 404, 429, 500, 503])("a receiver that answers %i may take it later", async (status) => {
  const { url } = await startReceiver((response) => void response.writeHead(status).end("no"));
  expect(await post(url)).toEqual({ kind: "later", detail: `HTTP ${status}`, afterMs: undefined });
});

test.each([410, 422])("a receiver that answers %i never takes it", async (status) => {
  const { url } = await startReceiver((response) => void response.writeHead(status).end("no"));
  expect(await post(url)).toEqual({ kind: "refused", detail: `HTTP ${status}` });
});

test("a receiver that says when it is to be asked again is believed, in seconds and as a date", async () => {
  const at = new Date(NOW_MS + 90_000).toUTCString();
  const long = await startReceiver((response) => {
    response.writeHead(503, { "retry-after": "9" }).end("x".repeat(70_000));
  });
  expect(await post(long.url)).toMatchObject({ kind: "later", afterMs: 9_000 });
  for (const [said, expected] of [
    ["7", 7_000],
    [at, 90_000 - (NOW_MS % 1_000)],
    ["soon", undefined],
  ] as const) {
    const { url } = await startReceiver((response) => void response.writeHead(429, { "retry-after": said }).end());
    expect(await post(url), said).toEqual({ kind: "later", detail: "HTTP 429", afterMs: expected });
  }
});

test("a receiver that never answers is left in time, and one that never ends too", async () => {
  const silent = await startReceiver(() => undefined);
  const endless = await startReceiver((response) => void response.writeHead(500).write("x".repeat(70_000)));
  const startMs = performance.now();
  for (const { url } of [silent, endless]) expect(await post(url, 300)).toMatchObject({ kind: "later" });
  expect(performance.now() - startMs).toBeLessThan(10_000);
});

test.each([
  ["is longer than anybody reads", (response: ServerResponse) => void response.writeHead(200).end("x".repeat(70_000))],
  ["never ends", (response: ServerResponse) => void response.writeHead(202).write("x")],
  ["is no text", (response: ServerResponse) => void response.writeHead(200).end(Buffer.from([0xff, 0xfe]))],
])("a receiver took a message by its status, though its answer %s", async (_how, answer) => {
  const { url } = await startReceiver(answer);
  expect(await post(url, 300)).toEqual({ kind: "delivered", detail: expect.stringMatching(/^HTTP 20[02]/) });
});
