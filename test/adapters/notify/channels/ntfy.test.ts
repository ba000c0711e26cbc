import { expect, test } from "vitest";
import { ntfy } from "../../../../src/adapters/notify/channels/ntfy.ts";
import { startReceiver } from "../../../support/alert-receiver.ts";
import { NOW_MS } from "../../../support/builders.ts";
import { channelMessage, openedBy, sendBy } from "../../../support/channel-messages.ts";

// A double that has the documented form of the server: what is published as JSON goes to its top.

const bodyOf = (body: string | undefined) => JSON.parse(body ?? "") as Record<string, unknown>;

test("an alert is published as JSON at the top of the server, with the topic, a title and the priority of its severity", async () => {
  const { url, received } = await startReceiver((response) => void response.writeHead(200).end("{}"));
  const values = { server: url, topic: "a-word_Nobody1", token: "tk_0123" };
  expect(await sendBy(ntfy, values)).toEqual({ kind: "delivered", detail: "HTTP 200" });
  expect(received[0]).toMatchObject({ path: "/", headers: { authorization: "Bearer tk_0123" } });
  expect(bodyOf(received[0]?.body)).toEqual({
    topic: "a-word_Nobody1",
    title: "SWAP_UNKNOWN on base",
    message: `look at it\n\n${new Date(NOW_MS).toISOString()}, alert_1`,
    priority: 4,
    tags: ["warning"],
  });
  for (const severity of ["info", "critical"] as const) await sendBy(ntfy, values, channelMessage({ severity }));
  expect(received.map(({ body }) => bodyOf(body).priority)).toEqual([4, 3, 5]);
});

test("the end of an alert says so, and a name with a password is said as such", async () => {
  const { url, received } = await startReceiver();
  await sendBy(
    ntfy,
    { server: `${url}/`, topic: "topic", token: "me:pass" },
    channelMessage({ id: "a.end", ends: "a", severity: "info" }),
  );
  expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from("me:pass").toString("base64")}`);
  expect(bodyOf(received[0]?.body)).toMatchObject({
    topic: "topic",
    title: "SWAP_UNKNOWN on base is over",
    priority: 3,
    tags: ["white_check_mark"],
  });
});

test("a text that is too long for a message is cut between its characters, and keeps its instant and its id", async () => {
  const { url, received } = await startReceiver();
  await sendBy(ntfy, { server: url, topic: "topic", token: "tk_0123" }, channelMessage({ text: "é🙂".repeat(2_000) }));
  const message = String(bodyOf(received[0]?.body).message);
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_096);
  expect(Buffer.byteLength(message)).toBeGreaterThan(4_085);
  expect(message).toMatch(/^(é🙂)+é?\n\n20.*, alert_1$/u);
});

test.each([
  [400, "refused"],
  [413, "refused"],
  [410, "refused"],
  [401, "later"],
  [403, "later"],
  [429, "later"],
  [507, "later"],
])("a server that answers %i has it %s", async (status, kind) => {
  const { url } = await startReceiver((response) => void response.writeHead(status).end());
  expect(await sendBy(ntfy, { server: url, topic: "topic", token: "tk_0123" })).toMatchObject({
    kind,
    detail: `HTTP ${status}`,
  });
});

test("without a server it is ntfy.sh, and nothing of the topic is shown", async () => {
  expect(openedBy(ntfy, { topic: "canary", token: "tk_0123" }).host).toBe("ntfy.sh");
  const away = { server: "http://127.0.0.1:1", topic: "canary", token: "tk_0123" };
  expect((await sendBy(ntfy, away)).detail).toMatch(/^127\.0\.0\.1:1: (?!.*canary)/);
});

test.each([
  ["server", "https://ntfy.sh", undefined],
  ["server", "http://10.0.0.5:8080/", undefined],
  ["server", "ntfy.sh", "is no http or https URL"],
  ["server", "https://ntfy.sh/topic", "is more than a server"],
  ["server", "https://ntfy.sh/?auth=x", "is more than a server"],
  ["server", "https://me:pass@ntfy.sh", "is more than a server"],
  ["topic", "a-word_Nobody1", undefined],
  ["topic", "two/words", "is no topic"],
  ["topic", "two words", "is no topic"],
  ["topic", "https://ntfy.sh/topic", "is no topic"],
  ["topic", "x".repeat(65), "is no topic"],
  ["token", "tk_0123", undefined],
  ["token", "me:pass", undefined],
  ["token", "secret", "is neither an access token"],
])("of the %s %s is reported: %s", (option, value, expected) => {
  const reported = ntfy.options[option]?.problem(value);
  if (expected === undefined) expect(reported).toBeUndefined();
  else expect(reported).toMatch(new RegExp(`^${expected}`));
});

test.each([
  ["ntfys://tk_1@push.example/topic", { server: "https://push.example", topic: "topic", token: "tk_1" }],
  ["ntfy://me:pass@10.0.0.5:8080/topic/", { server: "http://10.0.0.5:8080", topic: "topic", token: "me:pass" }],
  ["ntfy://:tk_1@ntfy.sh/topic", { server: "https://ntfy.sh", topic: "topic", token: "tk_1" }],
  ["ntfy://tk_1@topic", { server: "https://ntfy.sh", topic: "topic", token: "tk_1" }],
  ["ntfy://topic", { server: "https://ntfy.sh", topic: "topic", token: undefined }],
  ["ntfy://host/topic/other", undefined],
  ["ntfy://host/topic?priority=max", undefined],
  ["https://ntfy.sh/topic", undefined],
])("a URL as %s is read", (url, expected) => {
  expect(ntfy.pasted?.read(url)).toEqual(expected);
});
