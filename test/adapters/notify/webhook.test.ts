import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createWebhook } from "../../../src/adapters/notify/webhook.ts";
import { createRedactor } from "../../../src/net/redact.ts";
import { Secret } from "../../../src/net/secret.ts";
import { isSigned, startReceiver } from "../../support/alert-receiver.ts";
import { alertSample, NOW_MS } from "../../support/builders.ts";

const SECRET = "0123456789abcdef-alert-secret";
const PATH = "/hooks/T00-key-in-the-path?token=key-in-the-query";

const webhookTo = (url: string, timeoutMs = 2_000) =>
  createWebhook(
    { url: new Secret(url), secret: new Secret(SECRET), network: "base", timeoutMs },
    createRedactor(["hunter2-hunter2"]).redact,
  );

test("an alert arrives as JSON, signed over its instant and its body", async () => {
  const { url, received } = await startReceiver();
  const outcome = await webhookTo(`${url}${PATH}`)(alertSample({ runId: "run_1" }), { nowMs: NOW_MS });
  expect(outcome).toEqual({ taken: true, status: 204, detail: "HTTP 204" });
  const [first] = received;
  if (first === undefined) throw new Error("nothing came");
  expect(first.path).toBe(PATH);
  expect(first.headers).toMatchObject({ "content-type": "application/json", "swapd-alert-id": "alert_1" });
  expect(JSON.parse(first.body)).toEqual({
    ...{ id: "alert_1", severity: "warning", code: "SWAP_UNKNOWN", subject: "swap run_1.0.1", text: "look at it" },
    ...{ strategy: "weekly", run: "run_1", network: "base", at: new Date(NOW_MS).toISOString() },
  });
  expect(first.headers["swapd-signature"]).toMatch(new RegExp(`^t=${Math.floor(NOW_MS / 1_000)},v1=`));
  expect(await isSigned(first, SECRET)).toBe(true);
});

test("a body, an instant or a secret that is another one does not verify", async () => {
  const { url, received } = await startReceiver();
  await webhookTo(url)(alertSample(), { nowMs: NOW_MS });
  const [first] = received;
  if (first === undefined) throw new Error("nothing came");
  expect(await isSigned(first, `${SECRET}x`)).toBe(false);
  expect(await isSigned({ ...first, body: first.body.replace("look", "lock") }, SECRET)).toBe(false);
  const later = String(first.headers["swapd-signature"]).replace(/t=[0-9]+/, "t=1");
  expect(await isSigned({ ...first, headers: { "swapd-signature": later } }, SECRET)).toBe(false);
});

test("a redirect is refused, and what it points to hears nothing", async () => {
  const elsewhere = await startReceiver();
  const { url } = await startReceiver((response) => void response.writeHead(307, { location: elsewhere.url }).end());
  const outcome = await webhookTo(`${url}${PATH}`)(alertSample(), { nowMs: NOW_MS });
  expect(outcome).toMatchObject({ taken: false, status: undefined, detail: expect.stringContaining("redirect") });
  expect(elsewhere.received).toEqual([]);
});

test.each([300, 400, 404, 410, 429, 500, 503])("a receiver that answers %i did not take it", async (status) => {
  const { url } = await startReceiver((response) => void response.writeHead(status).end("no"));
  expect(await webhookTo(url)(alertSample(), { nowMs: NOW_MS })).toMatchObject({
    taken: false,
    detail: `HTTP ${status}`,
  });
});

test("a receiver that never answers is left in time, and one that never ends too", async () => {
  const silent = await startReceiver(() => undefined);
  const endless = await startReceiver((response) => void response.writeHead(500).write("x".repeat(70_000)));
  const startMs = performance.now();
  for (const { url } of [silent, endless]) {
    expect(await webhookTo(url, 300)(alertSample(), { nowMs: NOW_MS })).toMatchObject({ taken: false });
  }
  expect(performance.now() - startMs).toBeLessThan(10_000);
});

test.each([
  ["is longer than anybody reads", (response: ServerResponse) => void response.writeHead(200).end("x".repeat(70_000))],
  ["never ends", (response: ServerResponse) => void response.writeHead(202).write("x")],
  ["is no text", (response: ServerResponse) => void response.writeHead(200).end(Buffer.from([0xff, 0xfe]))],
])("a receiver took an alert by its status, though its answer %s", async (_how, answer) => {
  const { url } = await startReceiver(answer);
  const outcome = await webhookTo(url, 300)(alertSample(), { nowMs: NOW_MS });
  expect(outcome).toEqual({ taken: true, status: expect.any(Number), detail: expect.stringMatching(/^HTTP 20[02]/) });
});

test("what came of it names the host, and nothing more of the URL", async () => {
  const outcomes = [];
  for (const url of [`http://127.0.0.1:1${PATH}`, `http://user:key-in-the-path@127.0.0.1:1${PATH}`]) {
    outcomes.push((await webhookTo(url)(alertSample(), { nowMs: NOW_MS })).detail);
  }
  for (const detail of outcomes) {
    expect(detail).toContain("127.0.0.1:1");
    expect(detail).not.toMatch(/key-in|hooks|user/);
  }
});

test("a secret in the text of others does not leave with it", async () => {
  const { url, received } = await startReceiver();
  const text = "the service said hunter2-hunter2 at https://node.example/v3/abcdef";
  await webhookTo(url)(alertSample({ text }), { nowMs: NOW_MS });
  expect(received[0]?.body).not.toMatch(/hunter2|abcdef/);
  expect(received[0]?.body).toContain("the service said");
});
