import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { notifyTest } from "../../src/app/commands/notify.ts";
import { MAIN, project } from "../config/project.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { startMailServer } from "../support/mail-server.ts";
import * as doubles from "../support/message-doubles.ts";

const TOKEN = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi";
const KEYS = { app: "a".repeat(30), user: "u".repeat(30) };
const ROOM = "!room:example.org";

async function receivers() {
  const started = {
    hook: await startReceiver(),
    telegram: await doubles.startDouble(doubles.telegramService(TOKEN, "-100")),
    discord: await doubles.startDouble(doubles.discordService),
    slack: await doubles.startDouble(doubles.slackService),
    matrix: await doubles.startDouble(doubles.matrixService("mx_token", ROOM)),
    pushover: await doubles.startDouble(doubles.pushoverService(KEYS.app, KEYS.user)),
    apprise: await doubles.startDouble(doubles.appriseService),
    push: await startReceiver(),
    mail: await startMailServer({ disabledCommands: ["STARTTLS"] }),
  };
  const env = {
    ...{ HOOK: `${started.hook.url}/key`, SECRET: "canary-secret-0123456789", TG: TOKEN, MX: "mx_token" },
    ...{ DISCORD: `${started.discord.url}/api/webhooks/1/${"d".repeat(30)}`, PO_APP: KEYS.app, PO_USER: KEYS.user },
    ...{ SLACK: `${started.slack.url}/services/T1/B1/canary`, APPRISE: `${started.apprise.url}/notify/house` },
    ...{
      NTFY: `ntfy://tk_canary@${new URL(started.push.url).host}/topic`,
      SMTP: `smtp://127.0.0.1:${started.mail.port}`,
    },
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { telegram, matrix, pushover } = started;
  const channels = [
    "hook: { kind: webhook, url: { env: HOOK }, secret: { env: SECRET } }",
    `chat: { kind: telegram, token: { env: TG }, chat: "-100", server: "${telegram.url}" }`,
    "guild: { kind: discord, url: { env: DISCORD } }",
    "team: { kind: slack, url: { env: SLACK } }",
    `room: { kind: matrix, server: "${matrix.url}", token: { env: MX }, room: "${ROOM}" }`,
    `pager: { kind: pushover, token: { env: PO_APP }, user: { env: PO_USER }, server: "${pushover.url}" }`,
    "others: { kind: apprise, server: { env: APPRISE } }",
    "push: { kind: ntfy, url: { env: NTFY } }",
    "mail: { kind: email, server: { env: SMTP }, from: swapd@example.org, to: me@example.org }",
  ];
  return { ...started, config: `${MAIN}alerts:\n  channels:\n    ${channels.join("\n    ")}\n` };
}

test("notify test sends one message by each kind of channel, and shows what their receivers answer", async () => {
  const { config, mail, telegram, push } = await receivers();
  const out: string[] = [];
  const terminal = { out: (text: string) => void out.push(text), err: () => undefined, isInteractive: false };
  await notifyTest({ config: join(project({ "main.yaml": config }), "main.yaml") }, terminal);
  expect(out.shift()).toMatch(/^mode live: /);
  expect(out.map((line) => line.replace(/(: )\S+( took the alert )alert_\S+(: )/, "$1HOST$2ID$3"))).toEqual([
    ...["hook", "chat"].map((name, index) => `${name}: HOST took the alert ID: HTTP ${index === 0 ? 204 : 200}`),
    "guild: HOST took the alert ID: HTTP 204",
    ...["team", "room", "pager", "others"].map((name) => `${name}: HOST took the alert ID: HTTP 200`),
    "push: HOST took the alert ID: HTTP 204",
    "mail: HOST took the alert ID: SMTP 250",
  ]);
  expect(out.join("\n")).not.toMatch(/canary|ABCDEF/);
  expect(mail.mails[0]?.source).toContain("a test of the channel mail; nothing is to be done");
  expect(telegram.taken[0]?.fields.text).toContain("a test of the channel chat; nothing is to be done");
  expect(push.received[0]?.headers.authorization).toBe("Bearer tk_canary");
});
