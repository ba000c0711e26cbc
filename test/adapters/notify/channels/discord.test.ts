import { expect, test } from "vitest";
import { discord } from "../../../../src/adapters/notify/channels/discord.ts";
import { channelMessage, openedBy, sendBy } from "../../../support/channel-messages.ts";
import { discordService, startDouble } from "../../../support/message-doubles.ts";

const HOOK = "/api/webhooks/1234567890/abcdefghijklmnopqrstuvwxyz-0123456789";

test("a message mentions nobody, and what would format or link is written as it stands", async () => {
  const { url, taken } = await startDouble(discordService);
  const text = "sold @everyone <@1> **x** [y](https://evil.example) `z`\n# w\n> v\n- u ~~t~~ ||s||";
  const sent = await sendBy(discord, { url: url + HOOK }, channelMessage({ text }));
  expect(sent).toEqual({ kind: "delivered", detail: "HTTP 204" });
  const { content, ...others } = taken[0]?.fields ?? {};
  expect(others).toEqual({ allowed_mentions: { parse: [] }, flags: 4 });
  expect(content).toMatch(/^\*\*SWAP\\_UNKNOWN on base\*\*\n/);
  const said = String(content).split("\n").slice(1).join("\n");
  expect(said.replaceAll(/\\[^0-9A-Za-z\s]/g, "")).not.toMatch(/[\\`*_~|<>[\]()#@:-]/);
  expect(said.replaceAll("\\", "")).toContain(text);
});

test("a text that is too long once it is escaped is cut, and keeps its id", async () => {
  const { url, taken } = await startDouble(discordService);
  expect(await sendBy(discord, { url: url + HOOK }, channelMessage({ text: "_".repeat(2_000) }))).toMatchObject({
    kind: "delivered",
  });
  const { content } = taken[0]?.fields ?? {};
  expect(String(content)).toMatch(/\\_\n\n.*, alert\\_1$/);
  expect(String(content).length).toBeGreaterThan(1_990);
});

test("a pause is kept as the answer says it, in parts of seconds", async () => {
  const busy = { status: 429, body: { message: "You are being rate limited.", retry_after: 0.65, global: false } };
  const { url } = await startDouble(discordService, [busy]);
  expect(await sendBy(discord, { url: url + HOOK })).toEqual({ kind: "later", detail: "HTTP 429", afterMs: 650 });
});

test.each([
  ["https://discord.com/api/webhooks/123/abcdefghijklmnopqrstuvwxyz", undefined],
  ["https://discordapp.com/api/v10/webhooks/123/abcdefghijklmnopqrstuvwxyz", undefined],
  ["discord://123/abcdefghijklmnopqrstuvwxyz", undefined],
  ["discord://123", "is no webhook"],
  ["https://discord.com/channels/1/2", "is no webhook"],
  ["discord://123/abcdefghijklmnopqrstuvwxyz?tts=yes", "is no webhook"],
])("of %s is reported: %s", (url, expected) => {
  const problem = discord.options.url?.problem(url);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(expected);
});

test("the short form is the webhook's own URL", () => {
  expect(openedBy(discord, { url: "discord://123/abcdefghijklmnopqrstuvwxyz" }).host).toBe("discord.com");
});
