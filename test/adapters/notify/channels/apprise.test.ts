import { expect, test } from "vitest";
import { apprise } from "../../../../src/adapters/notify/channels/apprise.ts";
import { channelMessage, sendBy } from "../../../support/channel-messages.ts";
import { appriseService, startDouble } from "../../../support/message-doubles.ts";

test("a message goes to a configuration of the server, or to whom it names itself", async () => {
  const { url, taken } = await startDouble(appriseService);
  const server = `${url}/notify/house`;
  for (const severity of ["info", "warning", "critical"] as const)
    expect(await sendBy(apprise, { server, tag: "phones" }, channelMessage({ severity }))).toMatchObject({
      kind: "delivered",
    });
  await sendBy(apprise, { server: `${url}/notify`, urls: "json://host" }, channelMessage({ ends: "alert_1" }));
  expect(taken[0]?.fields).toEqual({
    ...{ title: "SWAP_UNKNOWN on base", body: expect.stringMatching(/^look at it\n\n20.*, alert_1$/) },
    ...{ type: "info", format: "text", tag: "phones" },
  });
  expect(taken.map(({ fields }) => fields.type)).toEqual(["info", "warning", "failure", "success"]);
  expect(taken[3]?.fields).toMatchObject({ urls: "json://host", title: "SWAP_UNKNOWN on base is over" });
});

test("an answer that nobody is there is none that it was delivered, nor that one of them failed", async () => {
  const { url } = await startDouble(appriseService);
  expect(await sendBy(apprise, { server: `${url}/notify/empty` })).toMatchObject({ kind: "later", detail: "HTTP 204" });
  expect(await sendBy(apprise, { server: `${url}/notify/other` })).toMatchObject({ kind: "later", detail: "HTTP 424" });
});

test.each([
  ["apprise://host:8000/house", "http://host:8000/notify/house"],
  ["apprises://host/house", "https://host/notify/house"],
  ["apprises://me:pass%40@host/path/house", "https://me:pass%40@host/path/notify/house"],
])("a URL as %s names %s", (url, server) => {
  expect(apprise.pasted?.read(url)).toEqual({ server });
  expect(apprise.options.server?.problem(server)).toBeUndefined();
});

test("an address that notifies nobody is reported", () => {
  expect(apprise.options.server?.problem("http://host:8000")).toContain("does not end in /notify/KEY");
});
