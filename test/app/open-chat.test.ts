import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { openChat } from "../../src/app/chat/open-chat.ts";
import { loadConfiguration } from "../../src/app/load-configuration.ts";
import { createSecretOpener } from "../../src/app/open-secrets.ts";
import { boundedFetch } from "../../src/net/bounded-fetch.ts";
import { createRedactor } from "../../src/net/redact.ts";
import { MAIN, project } from "../config/project.ts";
import { BOT_TOKEN, startBotServer } from "../support/bot-server.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife, turn } from "../support/engine-life.ts";
import { silentLogger } from "../support/silent-logger.ts";

const COMMANDS = (server: string): string => `alerts:
  commands:
    telegram: { token: { env: TG }, chat: "-100", users: ["42"], server: "${server}" }
`;

function open(alerts: string, token = BOT_TOKEN) {
  const outside = createOutside(SLOT_MS + 10_000);
  const life = openLife(outside);
  const loaded = loadConfiguration(join(project({ "main.yaml": MAIN + alerts }), "main.yaml"), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { store, ids, clock, notifier } = life.context.deps;
  const logger = silentLogger();
  const files = { inForce: loaded.configuration };
  const stop = (): (() => Promise<void>) =>
    openChat(files, {
      machine: { clock, ids, fetch: boundedFetch } as never,
      ...{ secrets: createSecretOpener({ TG: token }, createRedactor()), logger, reads: createReadModel(life.db) },
      alerts: { store, ids, clock, notifier },
    });
  return { outside, life, logger, files, stop };
}

test("without commands in the file nobody is listened to, and nothing is asked", async () => {
  const { state } = await startBotServer(() => SLOT_MS / 1_000);
  const { stop, logger } = open("");
  await stop()();
  expect([state.polls, logger.lines]).toEqual([[], []]);
});

test("what the file names is listened to: its bot, its chat and its people, until it is stopped", async () => {
  let nowSeconds = (): number => SLOT_MS / 1_000;
  const server = await startBotServer(() => nowSeconds());
  const { outside, life, logger, stop } = open(COMMANDS(server.url));
  nowSeconds = () => outside.clock.nowMs() / 1_000;
  await life.engine.start();
  const end = stop();
  onTestFinished(end);
  const listening = async (): Promise<void> => {
    await outside.clock.advance(300);
    expect(server.state.polls.some(({ timeout }) => timeout > 0)).toBe(true);
  };
  await vi.waitFor(listening, { timeout: 5_000, interval: 10 });
  server.send("/pause", { user: 43 });
  server.send("/pause");
  await vi.waitFor(
    async () => {
      await turn(outside, life, 1);
      expect(life.db.prepare("SELECT scope, mode, set_by FROM modes").raw().all()).toEqual([
        ["global", "paused", "chat:42"],
      ]);
    },
    { timeout: 10_000, interval: 20 },
  );
  expect(JSON.stringify(logger.lines)).not.toContain(BOT_TOKEN);
  await end();
  const polled = server.state.polls.length;
  await outside.clock.advance(120_000);
  expect(server.state.polls).toHaveLength(polled);
}, 30_000);

test("what is asked is answered by the files that were taken over since, and not by those of the start", async () => {
  const server = await startBotServer(() => outside.clock.nowMs() / 1_000);
  const { outside, life, files, stop } = open(COMMANDS(server.url));
  await life.engine.start();
  const end = stop();
  onTestFinished(end);
  const listening = async (): Promise<void> => {
    await outside.clock.advance(300);
    expect(server.state.polls.some(({ timeout }) => timeout > 0)).toBe(true);
  };
  await vi.waitFor(listening, { timeout: 5_000, interval: 10 });
  const answerTo = async (text: string): Promise<string> => {
    const before = server.state.said.length;
    server.send(text);
    await vi.waitFor(
      async () => {
        await turn(outside, life, 1);
        expect(server.state.said.length).toBeGreaterThan(before);
      },
      { timeout: 10_000, interval: 20 },
    );
    return server.state.said[before] ?? "";
  };
  expect(await answerTo("/status")).toMatch(/weekly: active, next slot 2\d{3}-/);
  files.inForce = { ...files.inForce, strategies: [] };
  expect(await answerTo("/status")).toContain("weekly: active, next slot -");
  await life.engine.stop();
}, 30_000);

test("a token that is none is reported with its place, with 78, and is not shown", () => {
  const { stop } = open(COMMANDS("http://127.0.0.1:1"), "canary");
  expect(stop).toThrow(
    expect.objectContaining({ exitCode: 78, message: expect.stringContaining("alerts.commands.telegram.token") }),
  );
  expect(stop).not.toThrow(/canary/);
});

test("a server that is more than a server is reported with its place, with 78", () => {
  const { stop } = open(COMMANDS("http://127.0.0.1:1/bot"));
  expect(stop).toThrow(
    expect.objectContaining({ exitCode: 78, message: expect.stringContaining("alerts.commands.telegram.server") }),
  );
});
