import { expect, test } from "vitest";
import { telegram } from "../../../../src/adapters/notify/channels/telegram.ts";
import { NOW_MS } from "../../../support/builders.ts";
import { channelMessage, openedBy, sendBy } from "../../../support/channel-messages.ts";
import { startDouble, telegramService } from "../../../support/message-doubles.ts";

const TOKEN = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi";
const CHAT = "-1001234567890";

async function begin(first: Parameters<typeof startDouble>[1] = []) {
  const { url, taken } = await startDouble(telegramService(TOKEN, CHAT), first);
  return { taken, values: { token: TOKEN, chat: CHAT, server: url } };
}

test("a message is plain text without formatting, so that nothing in a name means anything", async () => {
  const { values, taken } = await begin();
  const text = "sold 1 <b>*_`[x](tg://user?id=1) /resume @all";
  expect(await sendBy(telegram, values, channelMessage({ text }))).toEqual({ kind: "delivered", detail: "HTTP 200" });
  expect(taken[0]?.fields).toEqual({
    chat_id: CHAT,
    text: `SWAP_UNKNOWN on base\n${text}\n\n${new Date(NOW_MS).toISOString()}, alert_1`,
    link_preview_options: { is_disabled: true },
  });
});

test("a text of any length is taken, and goes into the topic that is named", async () => {
  const { values, taken } = await begin();
  const long = channelMessage({ text: "🙂".repeat(5_000) });
  expect(await sendBy(telegram, { ...values, topic: "7" }, long)).toMatchObject({ kind: "delivered" });
  expect(taken[0]?.fields).toMatchObject({
    message_thread_id: 7,
    text: expect.stringMatching(/🙂\n\n20.*, alert_1$/u),
  });
});

test("a pause is kept as the answer says it, in its text", async () => {
  const parameters = { retry_after: 35 };
  const busy = { status: 429, body: { ok: false, error_code: 429, description: "Too Many Requests", parameters } };
  const { values } = await begin([busy]);
  expect(await sendBy(telegram, values)).toEqual({ kind: "later", detail: "HTTP 429", afterMs: 35_000 });
  expect(await sendBy(telegram, values)).toMatchObject({ kind: "delivered" });
});

test("a wrong token or chat is tried again later, and nothing of it is shown", async () => {
  const { values } = await begin();
  const other = { ...values, token: TOKEN.replace("ABC", "XYZ") };
  expect(await sendBy(telegram, other)).toMatchObject({ kind: "later", detail: "HTTP 401" });
  expect(await sendBy(telegram, { ...values, chat: "1" })).toMatchObject({ kind: "later", detail: "HTTP 400" });
  expect(openedBy(telegram, { token: TOKEN, chat: CHAT }).host).toBe("api.telegram.org");
  const away = await sendBy(telegram, { ...values, server: "http://127.0.0.1:1" });
  expect(away).toMatchObject({ kind: "later", detail: expect.not.stringContaining("ABC") });
});

test.each([
  [`tgram://${TOKEN}/${CHAT}`, { token: TOKEN, chat: CHAT, topic: undefined }],
  [`tgram://${TOKEN}/${CHAT}/`, { token: TOKEN, chat: CHAT, topic: undefined }],
  [`tgram://${TOKEN}/${CHAT}:7/`, { token: TOKEN, chat: CHAT, topic: "7" }],
  [`tgram://${TOKEN}/@name_of_it`, { token: TOKEN, chat: "@name_of_it", topic: undefined }],
  [`tgram://${TOKEN}`, undefined],
  [`tgram://${TOKEN}/1/2`, undefined],
  [`tgram://${TOKEN}/1?silent=yes`, undefined],
  [`https://api.telegram.org/bot${TOKEN}`, undefined],
])("a URL as %s is read", (url, expected) => {
  expect(telegram.pasted?.read(url)).toEqual(expected);
});
