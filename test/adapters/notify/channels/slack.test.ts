import { expect, test } from "vitest";
import { slack } from "../../../../src/adapters/notify/channels/slack.ts";
import { channelMessage, openedBy, sendBy } from "../../../support/channel-messages.ts";
import { slackService, startDouble } from "../../../support/message-doubles.ts";

const HOOK = "/services/T0123/B0123/abcdefghijklmnop";

test("a message makes no link and no mention, and is not formatted", async () => {
  const { url, taken } = await startDouble(slackService);
  const text = "sold <!channel> <https://evil.example|USDC> & *x*";
  expect(await sendBy(slack, { url: url + HOOK }, channelMessage({ text }))).toMatchObject({ kind: "delivered" });
  expect(taken[0]?.fields).toEqual({
    text: expect.stringMatching(
      /^SWAP_UNKNOWN on base\nsold &lt;!channel&gt; &lt;https:\/\/evil.example\|USDC&gt; &amp; \*x\*\n\n20.*, alert_1$/,
    ),
    ...{ mrkdwn: false, unfurl_links: false, unfurl_media: false },
  });
});

test("a text of any length is taken whole or cut, never in the middle of what was escaped", async () => {
  const { url, taken } = await startDouble(slackService);
  await sendBy(slack, { url: url + HOOK }, channelMessage({ text: "&".repeat(2_000) }));
  expect(String(taken[0]?.fields.text)).toMatch(/^SWAP_UNKNOWN on base\n(?:&amp;)+\n\n/);
  expect(String(taken[0]?.fields.text).length).toBeLessThanOrEqual(4_000);
});

test("a pause is kept as the header says it", async () => {
  const { url } = await startDouble(slackService, [{ status: 429, headers: { "retry-after": "30" } }]);
  expect(await sendBy(slack, { url: url + HOOK })).toEqual({ kind: "later", detail: "HTTP 429", afterMs: 30_000 });
});

test.each([
  ["https://hooks.slack.com/services/T1/B1/abc", undefined],
  ["slack://T1/B1/abc", undefined],
  ["slack://bot@T1/B1/abc/#alerts", undefined],
  ["slack://T1/B1", "is no incoming webhook"],
  ["https://example.slack.com/archives/C1", "is no incoming webhook"],
  ["T1/B1/abc", "is no incoming webhook"],
])("of %s is reported: %s", (url, expected) => {
  const problem = slack.options.url?.problem(url);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(expected);
});

test("the short form is the webhook's own URL", () => {
  expect(openedBy(slack, { url: "slack://bot@T1/B1/abc/#alerts" }).host).toBe("hooks.slack.com");
});
