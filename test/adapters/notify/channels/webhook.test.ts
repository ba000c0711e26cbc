import { expect, test } from "vitest";
import { webhook } from "../../../../src/adapters/notify/channels/webhook.ts";
import { isSigned, startReceiver } from "../../../support/alert-receiver.ts";
import { NOW_MS } from "../../../support/builders.ts";
import { channelMessage, openedBy, sendBy, sendingOf } from "../../../support/channel-messages.ts";

const SECRET = "0123456789abcdef-alert-secret";
const PATH = "/hooks/T00-key-in-the-path?token=key-in-the-query";

const valuesOf = (url: string) => ({ url, secret: SECRET });

test("an alert arrives as JSON, signed over its instant and its body", async () => {
  const { url, received } = await startReceiver();
  expect(await sendBy(webhook, valuesOf(`${url}${PATH}`))).toEqual({ kind: "delivered", detail: "HTTP 204" });
  const [first] = received;
  if (first === undefined) throw new Error("nothing came");
  expect(first.path).toBe(PATH);
  expect(first.headers).toMatchObject({ "content-type": "application/json", "swapd-alert-id": "alert_1" });
  expect(first.headers["user-agent"]).toBe("swapd");
  expect(JSON.parse(first.body)).toEqual({
    ...{ id: "alert_1", severity: "warning", code: "SWAP_UNKNOWN", subject: "swap run_1.0.1", text: "look at it" },
    ...{ strategy: "weekly", run: "run_1", network: "base", at: new Date(NOW_MS).toISOString() },
  });
  expect(first.headers["swapd-signature"]).toMatch(new RegExp(`^t=${Math.floor(NOW_MS / 1_000)},v1=`));
  expect(await isSigned(first, SECRET)).toBe(true);
});

test("the end of an alert has an id of its own and names the alert", async () => {
  const { url, received } = await startReceiver();
  await sendBy(webhook, valuesOf(url), channelMessage({ id: "alert_1.end", ends: "alert_1", severity: "info" }));
  expect(received[0]?.headers["swapd-alert-id"]).toBe("alert_1.end");
  expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({ id: "alert_1.end", ends: "alert_1", severity: "info" });
});

test("a body, an instant or a secret that is another one does not verify", async () => {
  const { url, received } = await startReceiver();
  await sendBy(webhook, valuesOf(url));
  const [first] = received;
  if (first === undefined) throw new Error("nothing came");
  expect(await isSigned(first, `${SECRET}x`)).toBe(false);
  expect(await isSigned({ ...first, body: first.body.replace("look", "lock") }, SECRET)).toBe(false);
  const later = String(first.headers["swapd-signature"]).replace(/t=[0-9]+/, "t=1");
  expect(await isSigned({ ...first, headers: { "swapd-signature": later } }, SECRET)).toBe(false);
});

test("what came of it names the host, and nothing more of the URL", async () => {
  for (const url of [`http://127.0.0.1:1${PATH}`, `http://user:key-in-the-path@127.0.0.1:1${PATH}`]) {
    const { host } = openedBy(webhook, valuesOf(url));
    const { detail, kind } = await sendBy(webhook, valuesOf(url), channelMessage(), sendingOf());
    expect([host, kind]).toEqual(["127.0.0.1:1", "later"]);
    expect(detail).toContain("127.0.0.1:1");
    expect(detail).not.toMatch(/key-in|hooks|user/);
  }
});

test("what cannot be its URL or its secret is reported, without showing it", () => {
  const { url, secret } = webhook.options;
  expect(url?.problem("hooks/T00")).toBe("is no http or https URL");
  expect(url?.problem("https://hooks.example/T00")).toBeUndefined();
  expect(secret?.problem("short")).toMatch(/^has 5 characters; give it at least 16/);
  expect(secret?.problem(SECRET)).toBeUndefined();
});
