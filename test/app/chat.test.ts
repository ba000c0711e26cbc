import { expect, onTestFinished, test, vi } from "vitest";
import { createBot } from "../../src/adapters/notify/bot.ts";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { CHAT_COMMANDS, type ChatTerms } from "../../src/app/chat/commands.ts";
import { refuseOldRequests, startListening } from "../../src/app/chat/listen.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { Secret } from "../../src/net/secret.ts";
import { BOT_NAME, BOT_TOKEN, startBotServer } from "../support/bot-server.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";
import { silentLogger } from "../support/silent-logger.ts";

const DEFAULTS = ["status", "why", "profit", "pause", "halt"] as const;
const ALL = { chat: "-100", users: ["42"], allow: CHAT_COMMANDS } satisfies ChatTerms;

async function begin(terms: Partial<ChatTerms> = {}) {
  const outside = createOutside(SLOT_MS + 10_000);
  const server = await startBotServer(() => outside.clock.nowMs() / 1_000);
  const open = (life = openLife(outside), refused: readonly string[] = []) => {
    const { store, ids, clock, notifier } = life.context.deps;
    const around = { timeoutMs: 500, nowMs: () => clock.nowMs() };
    const stop = startListening(
      { ...ALL, allow: DEFAULTS, ...terms },
      {
        ...{ store, ids, clock, notifier, logger: silentLogger() },
        bot: createBot({ token: new Secret(BOT_TOKEN), server: server.url }, around),
        sources: {
          configuration: () =>
            ({
              ...{ database: outside.file, mode: "live", network: { name: "base", submit: { kind: "public" } } },
              ...{ strategies: [], tokens: new Map(), wallets: new Map(), policy: life.context.settings.policy },
              ...{ service: { url: "http://127.0.0.1:9" }, serve: {} },
            }) as unknown as Configuration,
          reads: createReadModel(life.db),
          nowMs: () => clock.nowMs(),
        },
      },
      refused,
    );
    onTestFinished(stop);
    return { life, stop };
  };
  return { outside, server, open };
}

type Server = Awaited<ReturnType<typeof startBotServer>>;

/** It polls for what is new: whatever was there before is dropped by now. */
const listening = async ({ state }: Server, { clock }: Outside): Promise<void> => {
  const before = state.polls.length;
  await vi.waitFor(
    async () => {
      await clock.advance(300);
      expect(state.polls.slice(before).some(({ timeout }) => timeout > 0)).toBe(true);
    },
    { timeout: 5_000, interval: 10 },
  );
};

/** Lets the engine work until the bot has said something new. */
async function saidAfter(outside: Outside, life: Life, { state }: Server, act: () => void): Promise<string> {
  const before = state.said.length;
  act();
  await vi.waitFor(
    async () => {
      await turn(outside, life, 1);
      expect(state.said.length).toBeGreaterThan(before);
    },
    { timeout: 10_000, interval: 20 },
  );
  return state.said[before] ?? "";
}

const modes = ({ db }: Life): unknown[] =>
  db.prepare("SELECT scope, mode, set_by FROM modes ORDER BY scope").raw().all();
const requests = ({ db }: Life): unknown[] => db.prepare("SELECT command, made_by FROM requests").raw().all();

/** Time passes for the bot, and nothing was taken of what it was sent. */
async function isDeaf(server: Server, life: Life, outside: Outside): Promise<void> {
  const { state } = server;
  await listening(server, outside);
  await listening(server, outside);
  expect(state.updates).toEqual([]);
  expect([state.said, requests(life)]).toEqual([[], []]);
}

test("a halt by chat goes through the operators' requests, is answered, and names who asked", async () => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  expect(await saidAfter(outside, life, server, () => server.send("/halt"))).toContain("global is halted");
  expect(await saidAfter(outside, life, server, () => server.send(`/pause@${BOT_NAME} weekly`))).toContain(
    "weekly is paused",
  );
  expect(modes(life)).toEqual([
    ["global", "halted", "chat:42"],
    ["weekly", "paused", "chat:42"],
  ]);
  expect(await saidAfter(outside, life, server, () => server.send("/status"))).toMatch(
    /^base, .*operating mode halted/,
  );
  expect(await saidAfter(outside, life, server, () => server.send("/why nothing"))).toContain("no strategy");
  expect(await saidAfter(outside, life, server, () => server.send("/profit"))).toContain(
    "no fill has reference prices",
  );
  await life.engine.stop();
});

test("a pause by chat lifts no halt, of everything or of one strategy: that lets open runs be signed, and needs no code", async () => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  for (const about of ["", " weekly"]) {
    await saidAfter(outside, life, server, () => server.send(`/halt${about}`));
    expect(await saidAfter(outside, life, server, () => server.send(`/pause${about}`))).toMatch(
      /^refused: (global|weekly) is halted, which is stricter than paused/,
    );
  }
  expect(modes(life)).toEqual([
    ["global", "halted", "chat:42"],
    ["weekly", "halted", "chat:42"],
  ]);
  await life.engine.stop();
});

test("a resume sent while the daemon was down does nothing, and neither does one of which the answer was lost", async () => {
  const { outside, server, open } = await begin({ allow: CHAT_COMMANDS });
  const first = open();
  await first.life.engine.start();
  await listening(server, outside);
  await saidAfter(outside, first.life, server, () => server.send("/halt"));
  const asked = await saidAfter(outside, first.life, server, () => server.send("/resume"));
  const code = /\/yes ([0-9]{6})/.exec(asked)?.[1];
  await first.life.engine.stop();
  await first.stop();
  first.life.db.close();
  // While it is down: a resume, its code, and as they are kept for a day, hours pass. One is of this very moment.
  server.send("/resume");
  server.send(`/yes ${code}`);
  await outside.clock.advance(3 * 3_600_000);
  server.send(`/yes ${code}`);
  server.send("/resume");
  const life = openLife(outside);
  await refuseOldRequests(life.context.deps);
  const second = open(life);
  await life.engine.start();
  await listening(server, outside);
  await turn(outside, life, 5);
  expect(modes(life)).toEqual([["global", "halted", "chat:42"]]);
  expect(server.state.said.at(-1)).toContain("dropped 4 sent while nobody listened");
  expect(await saidAfter(outside, life, server, () => server.send(`/yes ${code}`))).toContain(
    "nothing waits for a code",
  );
  await second.stop();
  await life.engine.stop();
});

test("what was written down and not taken before a kill is not done by the next life, and its sender hears of it", async () => {
  const { outside, server, open } = await begin();
  const life = openLife(outside);
  const made = (scope: string, madeBy: string) =>
    ({
      kind: "request-made",
      request: { command: "mode", arguments: { mode: "halted", scope }, madeBy },
    }) as const;
  await life.store.commit([
    {
      question: { kind: "nothing" },
      decide: () => ({
        changes: [made("global", "chat:42"), made("weekly", "chat:42"), made("global", "ada")],
        atMs: outside.clock.nowMs(),
        value: undefined,
      }),
    },
  ]);
  const refused = await refuseOldRequests(life.context.deps);
  expect((await life.store.read({ kind: "requests" })).map(({ madeBy }) => madeBy)).toEqual(["ada"]);
  open(life, refused);
  await listening(server, outside);
  await listening(server, outside);
  expect(server.state.said).toEqual([
    "refused, because the daemon was started before it took them: halt everything, halt weekly; send again what is still meant",
  ]);
});

test("what trades needs a code of its own, which stands for one thing, for one person, once and for a minute", async () => {
  const { outside, server, open } = await begin({ allow: CHAT_COMMANDS, users: ["42", "43"] });
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  const ask = (text: string, change = {}) => saidAfter(outside, life, server, () => server.send(text, change));
  const codeOf = (text: string): string => /\/yes ([0-9]{6})/.exec(text)?.[1] ?? "";
  await ask("/halt");
  const code = codeOf(await ask("/resume"));
  expect(await ask(`/yes ${code}`, { user: 43 })).toContain("nothing waits for a code");
  expect(await ask("/yes 12345")).toBe("that is not its code");
  expect(modes(life)).toHaveLength(1);
  expect(await ask(`/yes ${code}`)).toContain("global is active");
  expect(await ask(`/yes ${code}`)).toContain("nothing waits for a code");
  const late = codeOf(await ask("/run weekly"));
  await turn(outside, life, 61);
  server.state.updates = [];
  await listening(server, outside);
  expect(await ask(`/yes ${late}`)).toContain("nothing waits for a code");
  const guessed = await ask("/approve run_1");
  for (const wrong of ["000000", "000001", "000002"]) await ask(`/yes ${wrong === codeOf(guessed) ? "000003" : wrong}`);
  expect(await ask(`/yes ${codeOf(guessed)}`)).toContain("nothing waits for a code");
  await life.engine.stop();
});

test("a halt is heard behind long messages of a stranger, who knows the bot's name alone", async () => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  const long = "ы".repeat(4_096);
  const message = { reply_to_message: { message_id: 1, date: 1, chat: { id: 7, type: "private" }, text: long } };
  for (let count = 0; count < 100; count += 1) server.send(long, { user: 7, chat: 7, message });
  expect(await saidAfter(outside, life, server, () => server.send("/halt"))).toContain("global is halted");
  await life.engine.stop();
});

test("a halt is heard from behind a stranger who writes before each question", async () => {
  const { outside, server, open } = await begin();
  server.state.before = () => server.send("hello", { user: 7, chat: 7 });
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  expect(await saidAfter(outside, life, server, () => server.send("/halt"))).toContain("global is halted");
  await life.engine.stop();
});

test("of what was sent while nobody listened nothing is done, though it comes in several answers", async () => {
  const { outside, server, open } = await begin();
  for (let count = 0; count < 45; count += 1) server.send("/halt");
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  await turn(outside, life, 5);
  expect(modes(life)).toEqual([]);
  expect(server.state.said.map((text) => text.split(" sent")[0])).toEqual(["dropped 20", "dropped 20", "dropped 5"]);
  await life.engine.stop();
});

test("of more commands than are taken at once its sender hears which were dropped, a halt among them", async () => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  for (let sent = 0; sent < 10; sent++) server.send("/resume");
  for (const text of ["thanks", "/halt", "/pause weekly"]) server.send(text);
  await saidAfter(outside, life, server, () => undefined);
  await vi.waitFor(() => expect(server.state.said.length).toBe(11), { timeout: 10_000 });
  expect(server.state.said.at(-1)).toBe(
    "dropped 2, because no more than 10 are taken at once: /halt, /pause weekly; send again what is still meant",
  );
  expect(requests(life)).toEqual([]);
  expect(await saidAfter(outside, life, server, () => server.send("/halt"))).toContain("halted");
  await life.engine.stop();
});

test("a question that cannot be answered is told so, and the chat and the daemon go on", async () => {
  const { outside, server, open } = await begin();
  const { life, stop } = open();
  await listening(server, outside);
  life.db.exec("ALTER TABLE swaps RENAME COLUMN sold TO misplaced");
  expect(await saidAfter(outside, life, server, () => server.send("/profit"))).toBe(
    "/profit cannot be answered now: the daemon goes on, and its log says why",
  );
  life.db.exec("ALTER TABLE swaps RENAME COLUMN misplaced TO sold");
  expect(await saidAfter(outside, life, server, () => server.send("/profit"))).toBe("no fill has reference prices yet");
  await stop();
});

test("resume, run and approve are switched off where nobody switched them on", async () => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  for (const text of ["/resume", "/run weekly", "/approve run_1"])
    expect(await saidAfter(outside, life, server, () => server.send(text))).toContain("is switched off here");
  expect(requests(life)).toEqual([]);
  await life.engine.stop();
});

test.each([
  ["of another user", { user: 43 }],
  ["in another chat", { chat: -101 }],
  ["of the right user in a chat of his own", { chat: 42 }],
  ["that is forwarded", { message: { forward_origin: { type: "user" } } }],
  ["in the name of the group", { message: { sender_chat: { id: -100 } } }],
  ["of a bot", { message: { from: { id: 42, is_bot: true, first_name: "x" } } }],
  ["of nobody", { message: { from: undefined } }],
])("a command %s is not heard, and nothing is said to it", async (_whose, change) => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await listening(server, outside);
  server.send("/halt", change);
  await isDeaf(server, life, outside);
});

test("a command for another bot, and a text that is none, is passed over", async () => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await listening(server, outside);
  for (const text of ["/halt@other_bot", "halt", "please /halt", ""]) server.send(text);
  await isDeaf(server, life, outside);
});

test.each([
  ["older than a minute", 62],
  ["from a time to come", -120],
])("a command that is %s is dropped, and its sender hears of it", async (_what, ageSeconds) => {
  const { outside, server, open } = await begin();
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  expect(await saidAfter(outside, life, server, () => server.send("/halt", { ageSeconds }))).toContain(
    "dropped: it was sent",
  );
  expect(requests(life)).toEqual([]);
  await life.engine.stop();
});

test("the offset is stored with what was asked for: what was taken is taken by no later life, and polls never overlap", async () => {
  const { outside, server, open } = await begin();
  const { life, stop } = open();
  await life.engine.start();
  await listening(server, outside);
  await saidAfter(outside, life, server, () => server.send("/halt"));
  await stop();
  expect(life.db.prepare("SELECT bot, next_update FROM chat_offsets").raw().all()).toEqual([["123456", 1_002]]);
  const second = open(life);
  await listening(server, outside);
  expect(server.state.polls.at(-1)?.offset).toBe(1_002);
  expect(requests(life)).toHaveLength(1);
  expect(server.state.mostAtOnce).toBe(1);
  await second.stop();
  await life.engine.stop();
});

test("a halt to a bot that does not know its own name is answered, and after a minute people hear of it", async () => {
  const { outside, server, open } = await begin();
  server.state.isNameless = true;
  const { life } = open();
  await life.engine.start();
  await listening(server, outside);
  expect(await saidAfter(outside, life, server, () => server.send(`/halt@${BOT_NAME}`))).toContain("without the @");
  expect(await saidAfter(outside, life, server, () => server.send("/halt"))).toContain("global is halted");
  const alerts = (): unknown[] =>
    life.db.prepare("SELECT text FROM alerts WHERE code = 'CHAT_UNHEARD' AND over_at_ms IS NULL").pluck().all();
  await vi.waitFor(
    async () => {
      await turn(outside, life, 10);
      expect(alerts()).toEqual([expect.stringContaining("getMe")]);
    },
    { timeout: 10_000, interval: 20 },
  );
  server.state.isNameless = false;
  await vi.waitFor(
    async () => {
      await turn(outside, life, 1);
      expect(alerts()).toEqual([]);
    },
    { timeout: 10_000, interval: 20 },
  );
  await life.engine.stop();
});

test.each([
  ["hangs", "nothing" as const],
  ["answers with a page", { status: 200, body: "<html>" }],
  ["answers with another form", { status: 200, body: { ok: true, result: { update_id: 1 } } }],
  [
    "answers with updates that are none",
    { status: 200, body: { ok: true, result: [{ update_id: "x" }, 5, null, { message: {} }] } },
  ],
  [
    "is in conflict with another program",
    { status: 409, body: { ok: false, error_code: 409, description: "Conflict" } },
  ],
  ["asks for a pause", { status: 429, body: { ok: false, parameters: { retry_after: 5 } } }],
])("a Bot API server that %s delays no swap and no stop, and is heard again", async (_how, instead) => {
  const { outside, server, open } = await begin();
  server.state.instead = instead;
  const { life, stop } = open();
  await life.engine.start();
  await turn(outside, life, 60);
  expect(
    life.db.prepare("SELECT count(*) FROM swaps WHERE state IN ('confirmed', 'final')").pluck().get(),
  ).toBeGreaterThan(0);
  server.state.instead = undefined;
  await vi.waitFor(
    async () => {
      await turn(outside, life, 30);
      expect(server.state.polls.some(({ timeout }) => timeout > 0)).toBe(true);
    },
    { timeout: 15_000, interval: 100 },
  );
  expect(await saidAfter(outside, life, server, () => server.send("/halt"))).toContain("global is halted");
  server.state.instead = "nothing";
  const startMs = performance.now();
  await stop();
  expect(performance.now() - startMs).toBeLessThan(1_000);
  await life.engine.stop();
  expect(life.errors).toEqual([]);
});

/** Lets time go by until the alert about commands by chat is true, or over. */
async function untilUnheard({ clock }: Outside, { db }: ReturnType<typeof openLife>, isTrue: 0 | 1, stepMs: number) {
  const rows = db.prepare("SELECT code, over_at_ms IS NULL AS isTrue FROM alerts WHERE code = 'CHAT_UNHEARD'");
  await vi.waitFor(
    async () => {
      await clock.advance(stepMs);
      expect(rows.all()).toEqual([{ code: "CHAT_UNHEARD", isTrue }]);
    },
    { timeout: 10_000, interval: 30 },
  );
}

test("a service that is away for a minute is an alert, which is over once it is heard again", async () => {
  const { outside, server, open } = await begin();
  server.state.instead = { status: 409, body: { ok: false } };
  const { life } = open();
  await untilUnheard(outside, life, 1, 10_000);
  server.state.instead = undefined;
  await untilUnheard(outside, life, 0, 10_000);
});

test("a service that asks to be left alone for a day is an alert at once, and is asked again within half an hour", async () => {
  const { outside, server, open } = await begin();
  server.state.instead = { status: 429, body: { ok: false, parameters: { retry_after: 86_400 } } };
  const { life } = open();
  await untilUnheard(outside, life, 1, 250);
  server.state.instead = undefined;
  await outside.clock.advance(30 * 60_000);
  await untilUnheard(outside, life, 0, 250);
});
