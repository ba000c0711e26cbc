import { expect, test } from "vitest";
import { pushover } from "../../../../src/adapters/notify/channels/pushover.ts";
import { NOW_MS } from "../../../support/builders.ts";
import { channelMessage, openedBy, sendBy } from "../../../support/channel-messages.ts";
import { pushoverService, startDouble } from "../../../support/message-doubles.ts";

const [TOKEN, USER] = ["a".repeat(30), "u".repeat(30)];

async function begin(first: Parameters<typeof startDouble>[1] = []) {
  const { url, taken } = await startDouble(pushoverService(TOKEN, USER), first);
  return { taken, values: { token: TOKEN, user: USER, server: url } };
}

test("a message has its title and instant, and what is critical sounds until it is seen", async () => {
  const { values, taken } = await begin();
  for (const severity of ["info", "warning", "critical"] as const)
    expect(await sendBy(pushover, values, channelMessage({ severity }))).toMatchObject({ kind: "delivered" });
  await sendBy(pushover, { ...values, device: "phone" });
  expect(taken[0]?.fields).toMatchObject({
    ...{ title: "SWAP_UNKNOWN on base", message: expect.stringMatching(/^look at it\n\n20.*, alert_1$/) },
    ...{ timestamp: Math.floor(NOW_MS / 1_000), priority: 0 },
  });
  expect(taken.map(({ fields: { priority, retry, expire } }) => [priority, retry, expire])).toEqual([
    [0, undefined, undefined],
    [1, undefined, undefined],
    [2, 60, 3_600],
    [1, undefined, undefined],
  ]);
  expect(taken.map(({ fields }) => fields.device)).toEqual([undefined, undefined, undefined, "phone"]);
});

test("a text of any length is taken", async () => {
  const { values, taken } = await begin();
  expect(await sendBy(pushover, values, channelMessage({ text: "é🙂".repeat(1_000) }))).toMatchObject({
    kind: "delivered",
  });
  expect(taken[0]?.fields.message).toMatch(/, alert_1$/);
});

test("a wrong key and a used-up quota are tried again later, and no key is shown", async () => {
  const { values } = await begin([{ status: 429 }]);
  expect(await sendBy(pushover, values)).toMatchObject({ kind: "later", detail: "HTTP 429" });
  const other = await sendBy(pushover, { ...values, user: "x".repeat(30) });
  expect(other).toEqual({ kind: "later", detail: "HTTP 400", afterMs: undefined });
  expect(openedBy(pushover, { token: TOKEN, user: USER }).host).toBe("api.pushover.net");
});

test.each([
  [`pover://${USER}@${TOKEN}`, { token: TOKEN, user: USER, device: undefined }],
  [`pover://${USER}@${TOKEN}/phone/tablet`, { token: TOKEN, user: USER, device: "phone,tablet" }],
  [`https://api.pushover.net`, undefined],
])("a URL as %s is read", (url, expected) => {
  expect(pushover.pasted?.read(url)).toEqual(expected);
});

test("what is no key is reported", () => {
  expect(pushover.options.token?.problem("short")).toContain("is no key");
  expect(pushover.options.user?.problem(USER)).toBeUndefined();
});
