import { expect, test } from "vitest";
import { matrix } from "../../../../src/adapters/notify/channels/matrix.ts";
import { channelMessage, sendBy } from "../../../support/channel-messages.ts";
import { matrixService, startDouble } from "../../../support/message-doubles.ts";

const TOKEN = "syt_0123456789";
const ROOM = "!abc/def:example.org".replace("/", "");

async function begin(first: Parameters<typeof startDouble>[1] = []) {
  const { url, taken } = await startDouble(matrixService(TOKEN, ROOM), first);
  return { taken, values: { server: url, token: TOKEN, room: ROOM } };
}

test("a message is an event whose transaction is the alert's id, so that a second try is the same event", async () => {
  const { values, taken } = await begin();
  const message = channelMessage({ text: "sold @room <b>x</b>" });
  for (const _ of [1, 2]) expect(await sendBy(matrix, values, message)).toMatchObject({ kind: "delivered" });
  await sendBy(matrix, values, channelMessage({ id: "alert_1.end", ends: "alert_1" }));
  expect(taken.map(({ path }) => path.split("/").at(-1))).toEqual(["alert_1", "alert_1", "alert_1.end"]);
  expect(taken[0]?.fields).toEqual({
    msgtype: "m.text",
    body: expect.stringMatching(/^SWAP_UNKNOWN on base\nsold @room <b>x<\/b>\n\n20.*, alert_1$/),
    "m.mentions": {},
  });
  expect(taken[2]?.fields.body).toMatch(/^SWAP_UNKNOWN on base is over\n/);
});

test("a pause is kept as the answer says it, in milliseconds", async () => {
  const { values } = await begin([{ status: 429, body: { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: 2_500 } }]);
  expect(await sendBy(matrix, values)).toEqual({ kind: "later", detail: "HTTP 429", afterMs: 2_500 });
});

test("a wrong token or room is tried again later, and a message that is too large never", async () => {
  const { values } = await begin();
  expect(await sendBy(matrix, { ...values, token: "other" })).toMatchObject({ kind: "later", detail: "HTTP 401" });
  expect(await sendBy(matrix, { ...values, room: "!x:y" })).toMatchObject({ kind: "later", detail: "HTTP 403" });
  const tooLarge = await begin([{ status: 413, body: { errcode: "M_TOO_LARGE" } }]);
  expect(await sendBy(matrix, tooLarge.values)).toMatchObject({ kind: "refused" });
});

test.each([
  ["matrixs://tok@host.example/!r:host.example", "https://host.example"],
  ["matrixs://:tok@host.example:8448/!r:host.example/", "https://host.example:8448"],
  ["matrix://tok@127.0.0.1:8008/!r:host.example", "http://127.0.0.1:8008"],
  ["matrixs://me:pass@host.example/!r:host.example", undefined],
  ["matrixs://tok@host.example/!r/!s", undefined],
])("of a URL as %s the server is %s", (url, server) => {
  const expected = server === undefined ? undefined : { server, token: "tok", room: "!r:host.example" };
  expect(matrix.pasted?.read(url)).toEqual(expected);
});

test("an alias is no room's id", () => {
  expect(matrix.options.room?.problem("#room:example.org")).toContain("is no room");
});
