import { expect, test } from "vitest";
import { channelKindOf } from "../../../src/adapters/notify/channels.ts";
import { startReceiver } from "../../support/alert-receiver.ts";
import { channelMessage, sendBy } from "../../support/channel-messages.ts";

const TOKEN = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi";

test.each([
  ["telegram", { token: TOKEN, chat: "-100" }, "server", { disable_notification: true }],
  ["ntfy", { topic: "topic", token: "tk_1" }, "server", { priority: 2 }],
  ["pushover", { token: "a".repeat(30), user: "u".repeat(30) }, "server", { priority: -1 }],
  ["matrix", { token: "mx", room: "!r:x" }, "server", { msgtype: "m.notice" }],
  ["discord", {}, "url", { flags: 4_100 }],
])("what is silent makes no sound by %s, and what is not does", async (kind, values, place, expected) => {
  const { url, received } = await startReceiver();
  const at = place === "url" ? `${url}/api/webhooks/1/${"d".repeat(30)}` : url;
  const known = channelKindOf(kind);
  for (const isSilent of [true, false])
    await sendBy(
      known,
      { ...values, [place]: at } as Record<string, string>,
      channelMessage({ isSilent, severity: "critical" }),
    );
  const [silent, loud] = received.map(({ body }) => JSON.parse(body));
  expect(silent).toMatchObject(expected);
  expect(loud).not.toMatchObject(expected);
});
