import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { startAlertSender } from "../../src/adapters/notify/alert-sender.ts";
import { webhook } from "../../src/adapters/notify/channels/webhook.ts";
import { createAlertOutbox, setAlertChannels } from "../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { SUBJECT } from "../../src/domain/run/alert.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { alertSample, GWEI, SLOT_MS } from "../support/builders.ts";
import { channelMessage, sendBy } from "../support/channel-messages.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { silentLogger } from "../support/silent-logger.ts";

const NOTIFICATIONS = { fills: true, starts: true, sameEnds: 3 } as const;

function begin(change: Partial<StrategySpec> = {}, options: Parameters<typeof openLife>[1] = {}) {
  const outside = createOutside(SLOT_MS - 1_500, change);
  return {
    outside,
    life: openLife(outside, { ...options, settings: { notifications: NOTIFICATIONS, ...options.settings } }),
  };
}

const messages = ({ db }: Life): unknown[] =>
  db.prepare("SELECT id, code, text FROM alerts WHERE severity = 'info' ORDER BY number").all();

async function trade(outside: Outside, life: Life): Promise<void> {
  await life.engine.start();
  await turn(outside, life, 20);
  await life.engine.stop();
}

test("a fill and a start are reported in people's units, and the same message is never reported twice", async () => {
  const { outside, life } = begin();
  await trade(outside, life);
  expect(messages(life)).toEqual([
    {
      ...{ id: expect.stringMatching(/^start_/), code: "STARTED" },
      text: "swapd started on sandbox, live, mode active, 1 strategy, for the first time with this database",
    },
    {
      ...{ id: expect.stringMatching(/^fill_run_[0-9]+\.0\.1_100000000_100495000000000000$/), code: "FILLED" },
      text: expect.stringMatching(
        /^weekly sold 100 USDC, bought 0\.100495 WETH on sandbox, 995\.074 USDC for 1 WETH, self-executed, gas 0\.0001 ETH \(0\.10 USD\), transaction 0x[0-9a-f]{64}, run run_[0-9]+$/,
      ),
    },
  ]);
  expect(outside.reported.map(({ code }) => code)).toEqual(["STARTED", "FILLED"]);
});

test("a gasless fill says its fee, and a later start how long nobody was at work", async () => {
  const { outside, life } = begin({ gasless: "prefer" });
  await trade(outside, life);
  expect(outside.reported[1]?.text).toContain(
    "1005.02 USDC for 1 WETH, gasless, fee 0.5 USDC (0.50 USD), transaction 0x",
  );
  life.db.close();
  await outside.clock.advance(7 * 3_600_000);
  const next = openLife(outside, { settings: { notifications: NOTIFICATIONS } });
  await next.engine.start();
  await next.engine.stop();
  expect(outside.reported[2]?.text).toMatch(
    /^swapd started on sandbox, live, mode active, 1 strategy, last at work .*Z, 7h before$/,
  );
});

test("a dry run says of each message that it is one", async () => {
  const { outside, life } = begin({}, { settings: { live: false } });
  await trade(outside, life);
  expect(outside.reported.map(({ code, text }) => [code, text.slice(0, 66)])).toEqual([
    ["STARTED", "dry run: swapd started on sandbox and signs nothing, mode active, "],
    ["WOULD_FILL", "dry run: weekly would sell 100 USDC for 0.1 WETH on sandbox, 1000 "],
  ]);
});

test("nothing is told that nobody switched on", async () => {
  const { outside, life } = begin(
    {},
    { settings: { notifications: { ...NOTIFICATIONS, fills: false, starts: false } } },
  );
  await trade(outside, life);
  expect(life.db.prepare("SELECT state FROM runs").pluck().all()).toEqual(["filled"]);
  expect(outside.reported).toEqual([]);
});

test.each([
  ["before", 0],
  ["after", 1],
])("a kill %s the commit of the fill leaves %d message, and the next life ends with one", async (moment, count) => {
  const stateOf = (one: Life): unknown => one.db.prepare("SELECT state FROM swaps").pluck().get();
  const expected = moment === "before" ? "mined" : "confirmed";
  const { outside, life } = begin(
    { gasless: "only" },
    { killAt: (label) => label === `commit.observed.${moment}` && stateOf(life) === expected },
  );
  await life.engine.start();
  await turn(outside, life, 20);
  expect(life.isDead()).toBe(true);
  const fills = (one: Life): unknown[] => one.db.prepare("SELECT id FROM alerts WHERE code = 'FILLED'").all();
  expect(fills(life)).toHaveLength(count);
  life.db.close();
  const next = openLife(outside, { settings: { notifications: NOTIFICATIONS } });
  await trade(outside, next);
  expect(next.db.prepare("SELECT state FROM runs").pluck().all()).toEqual(["filled"]);
  expect(fills(next)).toHaveLength(1);
});

test("a fill that a reorganisation took back and the chain brings again is the same message", async () => {
  const { outside, life } = begin();
  await life.engine.start();
  const isFilled = (): boolean => life.db.prepare("SELECT state FROM runs").pluck().get() === "filled";
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isFilled })).toBe(true);
  outside.chain.reorganise(3);
  await turn(outside, life, 20);
  expect(isFilled()).toBe(true);
  await life.engine.stop();
  const moves = life.db.prepare("SELECT to_state FROM transitions WHERE subject = 'swap'").pluck().all();
  expect(moves.filter((state) => state === "confirmed")).toHaveLength(2);
  expect(outside.reported.filter(({ code }) => code === "FILLED")).toHaveLength(1);
});

test("messages arrive at a receiver, though only what is critical is sent of alerts", async () => {
  const { outside, life } = begin();
  const { url, received } = await startReceiver();
  await setAlertChannels(life.db, [{ name: "webhook", severities: ["critical"], sendsEnds: false }]);
  await trade(outside, life);
  const values = { url: `${url}/hook`, secret: "s".repeat(16) };
  const sender = startAlertSender(
    {
      ...{ shortestRetryMs: 100, longestRetryMs: 400, mostAttempts: 50, longestAgeMs: 60_000, mostWaiting: 100 },
      stopWithinMs: 200,
    },
    {
      ...{ channel: "webhook", outbox: createAlertOutbox(life.db, "webhook"), clock: systemClock },
      logger: silentLogger(),
      deliver: async ({ alert }) => await sendBy(webhook, values, channelMessage({ ...alert, network: "sandbox" })),
    },
  );
  onTestFinished(async () => await sender.stop());
  await vi.waitFor(() => expect(received).toHaveLength(2), 20_000);
  expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { severity: "info", code: "STARTED", subject: "swapd", strategy: null, run: null, network: "sandbox" },
    {
      ...{ id: expect.stringMatching(/^fill_/), severity: "info", code: "FILLED", strategy: "weekly" },
      ...{ subject: expect.stringMatching(/^swap run_/), run: expect.stringMatching(/^run_/) },
      text: expect.stringMatching(/^weekly sold 100 USDC, bought 0\.100495 WETH on sandbox/),
    },
  ]);
});

test("three slots in a row that came to nothing for one reason are reported once, and it is over with a trade", async () => {
  const everyMinute = { schedule: { kind: "every", seconds: 30 }, retryForSeconds: 5 } as Partial<StrategySpec>;
  const { outside, life } = begin(everyMinute, {
    settings: { notifications: { ...NOTIFICATIONS, fills: false, starts: false } },
  });
  const alike = (): unknown[] =>
    life.db.prepare("SELECT over_at_ms IS NOT NULL FROM alerts WHERE code = 'SLOTS_END_ALIKE'").pluck().all();
  outside.service.refuses = refusal("AMOUNT_TOO_LOW", false);
  await life.engine.start();
  await turn(outside, life, 50);
  expect(alike()).toEqual([]);
  await turn(outside, life, 200);
  expect(alike()).toEqual([0]);
  expect(outside.reported.at(-1)?.text).toMatch(
    /^weekly does not trade: 3 slots in a row, from that of 20.*Z on, ended with quote_refused; see why with: swapd why weekly$/,
  );
  outside.service.refuses = undefined;
  await turn(outside, life, 60);
  expect(alike()).toEqual([1]);
  await life.engine.stop();
});

test("slots that pass because a run never ends are reported, too", async () => {
  const often = { schedule: { kind: "every", seconds: 30 }, gasless: "never" } as Partial<StrategySpec>;
  const { outside, life } = begin(often, {
    settings: { notifications: { ...NOTIFICATIONS, fills: false, starts: false } },
  });
  await life.engine.start();
  await turn(outside, life, 4);
  // Nothing is mined any more: the swap that is out has no end.
  outside.chain.mine = () => undefined;
  await turn(outside, life, 200);
  expect(life.db.prepare("SELECT DISTINCT reason FROM gaps").pluck().all()).toEqual(["overlap"]);
  expect(outside.reported.filter(({ code }) => code === "SLOTS_END_ALIKE")).toMatchObject([
    { text: expect.stringMatching(/^weekly does not trade: 3 slots in a row, .* ended with overlap/) },
  ]);
  await life.engine.stop();
});

test("a pair that was denied long ago keeps nobody from hearing that the strategy does not trade", async () => {
  const often = { schedule: { kind: "every", seconds: 30 }, retryForSeconds: 5 } as Partial<StrategySpec>;
  const { outside, life } = begin(often, {
    settings: { notifications: { ...NOTIFICATIONS, fills: false, starts: false } },
  });
  const subject = SUBJECT.pair("weekly", { sell: { symbol: "USDC" }, buy: { symbol: "GONE" } });
  life.store.raiseAlert(alertSample({ code: "TOKEN_TAX", subject, atMs: SLOT_MS - 86_400_000 }));
  outside.service.refuses = refusal("AMOUNT_TOO_LOW", false);
  await life.engine.start();
  await turn(outside, life, 250);
  expect(outside.reported.map(({ code }) => code)).toEqual(["SLOTS_END_ALIKE"]);
  await life.engine.stop();
});

test("endpoints that disagree about one swap keep nobody from hearing that a strategy does not trade", async () => {
  const often = { schedule: { kind: "every", seconds: 30 }, retryForSeconds: 5 } as Partial<StrategySpec>;
  const { outside, life } = begin(often, {
    settings: { notifications: { ...NOTIFICATIONS, fills: false, starts: false } },
  });
  const alert = { code: "ENDPOINTS_DISAGREE", subject: SUBJECT.agreement(), strategy: undefined };
  life.store.raiseAlert(alertSample(alert));
  outside.service.refuses = refusal("AMOUNT_TOO_LOW", false);
  await life.engine.start();
  await turn(outside, life, 250);
  expect(outside.reported.map(({ code }) => code)).toEqual(["SLOTS_END_ALIKE"]);
  await life.engine.stop();
});

test.each(["all", "accumulate"] as const)(
  "a swap that hangs, so that no slot is traded, is reported also where slots wait for it (catch_up: %s)",
  async (policy) => {
    const outside = createOutside(SLOT_MS - 1_500, {
      gasless: "never",
      catchUp: { policy, windowSeconds: 180, maxRuns: 3, maxMultiple: 2 },
    } as Partial<StrategySpec>);
    // Gas rises so far, as the swap is sent, that neither it nor its cancellation is taken into a block.
    const life = openLife(outside, {
      killAt: (label, passed) => {
        if (label === "lane.broadcast.before" && passed.filter((one) => one === label).length === 2)
          outside.chain.baseFee = 60n * GWEI;
        return false;
      },
    });
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    const isSaid = (): boolean => outside.reported.some(({ code }) => code === "SLOTS_END_ALIKE");
    expect(await turnUntil(outside, life, { maxSeconds: 900, isDone: isSaid })).toBe(true);
    expect(life.errors).toEqual([]);
  },
);
