import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { email } from "../../../../src/adapters/notify/channels/email.ts";
import { NOW_MS } from "../../../support/builders.ts";
import { channelMessage, openedBy, sendBy, sendingOf } from "../../../support/channel-messages.ts";
import { startMailServer } from "../../../support/mail-server.ts";

const to = { from: "swapd@example.org", to: "me@example.org, you@example.org" };
const headersOf = (source = "") => source.split("\r\n\r\n")[0] ?? "";

test("a mail says what it is about, when it was and by which id; a second try has the same one", async () => {
  const { port, mails } = await startMailServer({ disabledCommands: ["STARTTLS"] });
  const values = { server: `smtp://127.0.0.1:${port}`, ...to };
  expect(await sendBy(email, values)).toEqual({ kind: "delivered", detail: "SMTP 250" });
  await sendBy(email, values, channelMessage({ id: "alert_1.end", ends: "alert_1", severity: "critical" }));
  expect(mails[0]).toMatchObject({ from: "swapd@example.org", to: ["me@example.org", "you@example.org"] });
  expect(headersOf(mails[0]?.source)).toMatch(/^Subject: \[swapd\] SWAP_UNKNOWN on base\r$/m);
  expect(headersOf(mails[0]?.source)).toMatch(/^Message-ID: <alert_1@swapd>\r$/m);
  expect(headersOf(mails[0]?.source)).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(mails[0]?.source).toContain(`look at it\r\n\r\n${new Date(NOW_MS).toISOString()}, alert_1`);
  expect(headersOf(mails[1]?.source)).toMatch(/^Subject: \[swapd\] CRITICAL SWAP_UNKNOWN on base is over\r$/m);
  expect(headersOf(mails[1]?.source)).toMatch(/^In-Reply-To: <alert_1@swapd>\r$/m);
});

test("a line break in what a mail is about adds no header and no recipient", async () => {
  const { port, mails } = await startMailServer({ disabledCommands: ["STARTTLS"] });
  const network = "base\r\nBcc: evil@example.org\r\n\r\ninjected";
  const hostile = channelMessage({ network, code: "X\nTo: evil@example.org", id: "a\r\nCc: evil@example.org" });
  await sendBy(email, { server: `smtp://127.0.0.1:${port}`, ...to }, hostile);
  expect(mails[0]?.to).toEqual(["me@example.org", "you@example.org"]);
  expect(headersOf(mails[0]?.source)).not.toMatch(/^(?:Bcc|Cc|To: evil)/im);
  expect(headersOf(mails[0]?.source)).toMatch(/^Subject: \[swapd\] X To: evil@example.org on base Bcc:/m);
});

test("a name and a password open the server, and are said neither when they are wrong nor when it is away", async () => {
  const { port, mails } = await startMailServer({
    ...{ disabledCommands: ["STARTTLS"], authOptional: false, allowInsecureAuth: true },
    onAuth: ({ username, password }, _session, done) =>
      password === "p:ss" ? done(null, { user: username }) : done(new Error(`no ${password}`)),
  });
  const at = (login: string, where = `127.0.0.1:${port}`) => ({ server: `smtp://${login}@${where}`, ...to });
  expect(await sendBy(email, at("me:p%3Ass"))).toMatchObject({ kind: "delivered" });
  expect(mails[0]?.user).toBe("me");
  const wrong = await sendBy(email, at("me:canary"));
  expect(wrong).toEqual({ kind: "later", detail: `127.0.0.1:${port}: SMTP 535` });
  const away = await sendBy(email, at("me:canary", "127.0.0.1:1"));
  expect(away).toMatchObject({ kind: "later", detail: expect.not.stringContaining("canary") });
});

test("a name and a password go to another machine only encrypted", async () => {
  // A server without STARTTLS that would take the password as it is, under a name that is not this machine's.
  const heard: string[] = [];
  const { port, mails } = await startMailServer({
    ...{ disabledCommands: ["STARTTLS"], authOptional: false, allowInsecureAuth: true },
    onAuth: ({ username, password }, _session, done) => {
      heard.push(String(password));
      done(null, { user: username });
    },
  });
  const values = { server: `smtp://me:pass@[::ffff:127.0.0.1]:${port}`, ...to };
  expect(await sendBy(email, values)).toMatchObject({ kind: "later" });
  expect([heard, mails]).toEqual([[], []]);
});

test("a certificate that nobody vouches for is not believed", async () => {
  const { port, mails } = await startMailServer({ secure: true });
  const values = { server: `smtps://127.0.0.1:${port}`, ...to };
  expect(await sendBy(email, values)).toMatchObject({
    kind: "later",
    detail: expect.stringContaining("certificate"),
  });
  expect(mails).toEqual([]);
});

test("a server that takes a connection and says nothing is left with the signal", async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const startMs = performance.now();
  const sending = sendingOf({ signal: AbortSignal.timeout(200) });
  const values = { server: `smtp://127.0.0.1:${port}`, ...to };
  expect(await sendBy(email, values, channelMessage(), sending)).toMatchObject({
    kind: "later",
    detail: `127.0.0.1:${port}: no answer in time`,
  });
  expect(performance.now() - startMs).toBeLessThan(5_000);
});

test("one address of several that is not there is said, and the others have the mail", async () => {
  const { port } = await startMailServer({
    disabledCommands: ["STARTTLS"],
    onRcptTo: ({ address }, _session, done) =>
      address.startsWith("you") ? done(Object.assign(new Error("who"), { responseCode: 550 })) : done(),
  });
  const sent = await sendBy(email, { server: `smtp://127.0.0.1:${port}`, ...to });
  expect(sent).toEqual({ kind: "delivered", detail: "SMTP 250, and 1 of 2 addresses did not take it" });
});

test.each([
  ["server", "smtp://me:p%40ss@mail.example.org", undefined],
  ["server", "smtps://mail.example.org:465", undefined],
  ["server", "mail.example.org", "is no smtp://"],
  ["server", "smtp://mail.example.org/?x=1", "is no smtp://"],
  ["from", "Me <me@example.org>", "is no address"],
  ["to", "me@example.org,you", "is no address"],
  ["to", "me@example.org\nBcc: x@y.z", "is no address"],
])("of the %s %s is reported: %s", (option, value, expected) => {
  const problem = email.options[option]?.problem(value);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(expected);
});

test.each([
  ["mailto://me:pass@example.org", "smtp://me:pass@example.org", "me@example.org", "me@example.org"],
  [
    "mailtos://me%40example.org:pass@example.org:465?smtp=mail.example.org&to=you@x.org&mode=ssl",
    "smtps://me%40example.org:pass@mail.example.org:465",
    "me@example.org",
    "you@x.org",
  ],
])("a URL as %s is read", (url, server, from, whom) => {
  expect(email.pasted?.read(url)).toEqual({ server, from, to: whom });
  expect(openedBy(email, { server, from, to: whom }).host).toMatch(/example\.org:(?:587|465)$/);
});
