import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfiguration } from "../../src/app/load-configuration.ts";
import { openChannels } from "../../src/app/open-channels.ts";
import { createSecretOpener } from "../../src/app/open-secrets.ts";
import { createRedactor } from "../../src/net/redact.ts";
import { MAIN, project } from "../config/project.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { alertSample, NOW_MS } from "../support/builders.ts";

const SECRET = "canary-secret-0123456789";
const ALERTS = `alerts:
  webhook: { url: { env: HOOK }, secret: { env: SECRET } }
  channels:
    phone: { kind: ntfy, server: SERVER, topic: { env: TOPIC }, token: { env: TOKEN } }
`;

function open(env: Record<string, string>, server = "http://127.0.0.1:1") {
  const main = MAIN + ALERTS.replace("SERVER", server);
  const loaded = loadConfiguration(join(project({ "main.yaml": main }), "main.yaml"), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const redactor = createRedactor();
  const whole = { HOOK: "http://127.0.0.1:1/hook", SECRET, TOPIC: "some-topic", TOKEN: "tk_1", ...env };
  return openChannels(loaded.configuration, { secrets: createSecretOpener(whole, redactor), redactor });
}

const at = { nowMs: NOW_MS, signal: new AbortController().signal };

test("what is sent after it was over says so, and what only happened is told as ever", async () => {
  const { url, received } = await startReceiver();
  const [webhook] = open({ HOOK: `${url}/hook` });
  const alert = alertSample({ text: "within 2m approve it" });
  for (const overAtMs of [undefined, alert.atMs, alert.atMs + 120_000])
    await webhook?.deliver({ number: 7, alert, tells: "begin", overAtMs }, at);
  const over = `(over since ${new Date(alert.atMs + 120_000).toISOString()}) within 2m approve it`;
  expect(received.map(({ body }) => JSON.parse(body).text)).toEqual([alert.text, alert.text, over]);
});

test("each channel is notified in its own form, and no secret of any channel leaves in a text", async () => {
  const { url, received } = await startReceiver();
  const channels = open({ HOOK: `${url}/hook` }, url);
  expect(channels.map(({ name, kind, host }) => [name, kind, host])).toEqual([
    ["webhook", "webhook", new URL(url).host],
    ["phone", "ntfy", new URL(url).host],
  ]);
  const text = `the service said ${SECRET} at https://node.example/v3/abcdef`;
  const alert = alertSample({ text });
  for (const { deliver } of channels) {
    expect(await deliver({ number: 7, alert, tells: "begin", overAtMs: undefined }, at)).toMatchObject({
      kind: "delivered",
    });
    expect(await deliver({ number: 7, alert, tells: "end", overAtMs: NOW_MS + 5_000 }, at)).toMatchObject({
      kind: "delivered",
    });
  }
  const bodies = received.map(({ body }) => JSON.parse(body));
  const [begin, end] = bodies;
  expect(begin).toMatchObject({
    id: "alert_1",
    severity: "warning",
    network: "base",
    at: new Date(NOW_MS).toISOString(),
  });
  expect(end).toMatchObject({
    ...{ id: "alert_1.end", ends: "alert_1", severity: "info", code: alert.code, subject: alert.subject },
    ...{ text: expect.stringMatching(/^over: the service said/), at: new Date(NOW_MS + 5_000).toISOString() },
  });
  expect(bodies.slice(2).map(({ topic, title }) => [topic, title])).toEqual([
    ["some-topic", "SWAP_UNKNOWN on base"],
    ["some-topic", "SWAP_UNKNOWN on base is over"],
  ]);
  for (const { body } of received) expect(body).not.toMatch(/canary|abcdef/);
});

test.each([
  ["a URL that is none", { HOOK: "hooks.example/canary" }, "what alerts.webhook.url refers to is no http or https URL"],
  ["a topic that is none", { TOPIC: "canary/word" }, "what alerts.channels.phone.topic refers to is no topic"],
  ["a secret that is short", { SECRET: "canary" }, "what alerts.webhook.secret refers to has 6 characters"],
  ["a variable that is empty", { TOKEN: "" }, "TOKEN is empty"],
])("%s is reported with its place, with 78, and is not shown", (_what, env, expected) => {
  let thrown: unknown;
  try {
    open(env);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ exitCode: 78, message: expect.stringContaining(expected) });
  expect(String(thrown)).not.toContain("canary");
});

function openOne(lines: string, env: Record<string, string>) {
  const main = `${MAIN}alerts: { channels: { one: { ${lines} } } }\n`;
  const loaded = loadConfiguration(join(project({ "main.yaml": main }), "main.yaml"), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const redactor = createRedactor();
  return {
    redactor,
    channels: openChannels(loaded.configuration, { secrets: createSecretOpener(env, redactor), redactor }),
  };
}

test("a URL stands in the place of what is in it, and none of it leaves in a text", async () => {
  const { url, received } = await startReceiver();
  const { host } = new URL(url);
  const { channels, redactor } = openOne("kind: ntfy, url: { env: URL }", {
    URL: `ntfy://tk_canary@${host}/some-topic`,
  });
  const alert = alertSample({ text: "the server said tk_canary of some-topic" });
  expect(channels[0]?.host).toBe(host);
  await channels[0]?.deliver({ number: 7, alert, tells: "begin", overAtMs: undefined }, at);
  expect(received[0]?.headers.authorization).toBe("Bearer tk_canary");
  expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({
    topic: "some-topic",
    message: expect.stringMatching(/^the server said \[redacted\] of \[redacted\]/),
  });
  expect(redactor.redact("tk_canary")).toBe("[redacted]");
});

test.each([
  ["kind: ntfy", "ntfy://canary-topic", "the token in what alerts.channels.one.url refers to is missing"],
  ["kind: ntfy", "https://ntfy.sh/canary", "what alerts.channels.one.url refers to is not of the form ntfys://"],
  ["kind: telegram", "tgram://canary/1", "the token in what alerts.channels.one.url refers to is no token of a bot"],
  ["kind: discord", "https://discord.com/canary", "what alerts.channels.one.url refers to is no webhook"],
])("a URL of %s that is %s is refused with 78, and is not shown", (kind, url, expected) => {
  let thrown: unknown;
  try {
    openOne(`${kind}, url: { env: URL }`, { URL: url });
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ exitCode: 78, message: expect.stringContaining(expected) });
  expect(String(thrown)).not.toContain("canary");
});

test("what turns a text around, or is not seen, does not leave in one", async () => {
  const { url, received } = await startReceiver();
  const [webhook] = open({ HOOK: `${url}/hook` });
  const alert = alertSample({ text: "sold 1 \u202eCDSU\u202c\u0007\u200b\u{e0041} \u{1f642}\nfor" });
  await webhook?.deliver({ number: 7, alert, tells: "begin", overAtMs: undefined }, at);
  expect(JSON.parse(received[0]?.body ?? "").text).toBe("sold 1 \ufffdCDSU\ufffd\ufffd\ufffd\ufffd \u{1f642}\nfor");
});

test("what of a code is off, silent or on is the channel's own word, and else that of all", async () => {
  const { url, received } = await startReceiver();
  const ntfy = `kind: ntfy, url: { env: URL }`;
  const main = `${MAIN}alerts:
  events: { NO_FUNDS: off, SWAP_UNKNOWN: silent, FILLED: off }
  channels:
    one: { ${ntfy} }
    other: { ${ntfy}, events: { NO_FUNDS: on, SWAP_UNKNOWN: on, STARTED: off } }
`;
  const loaded = loadConfiguration(join(project({ "main.yaml": main }), "main.yaml"), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const redactor = createRedactor();
  const secrets = createSecretOpener({ URL: `ntfy://tk_1@${new URL(url).host}/topic` }, redactor);
  const opened = openChannels(loaded.configuration, { secrets, redactor });
  expect(opened.map(({ codesOff }) => codesOff)).toEqual([
    ["NO_FUNDS", "FILLED"],
    ["FILLED", "STARTED"],
  ]);
  for (const { deliver } of opened)
    await deliver({ number: 7, alert: alertSample(), tells: "begin", overAtMs: undefined }, at);
  expect(received.map(({ body }) => JSON.parse(body).priority)).toEqual([2, 4]);
});
