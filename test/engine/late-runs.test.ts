import { describe, expect, onTestFinished, test } from "vitest";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { priceOf, SLOT_MS, thresholdLeg, thresholdSpec, USDC, usd, WBTC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { replayAll } from "../support/replays.ts";

// A run that was open when the process died is still open when it comes back, however much later that is.

const DAY_MS = 86_400_000;
const OWNER = { wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT };

const weekly = (change: object): Outside =>
  createOutside(SLOT_MS - 1_500, {
    retryForSeconds: 60,
    schedule: { kind: "every", seconds: 7 * 86_400, anchorSeconds: SLOT_MS / 1_000 },
    ...change,
  } as Partial<StrategySpec>);

/** Comes back after the time. */
async function comeBack(outside: Outside, afterMs: number): Promise<Life> {
  await outside.clock.advance(afterMs);
  outside.chain.mine();
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  return life;
}

const runs = ({ db }: Life): unknown[] => db.prepare("SELECT state, reason FROM runs ORDER BY slot_ms").all();

describe.each(["prefer", "never"] as const)("a run that was open when the process died (gasless: %s)", (gasless) => {
  test.each(["commit.started.before", "effect.ReadView.before", "effect.FetchQuote.before"])(
    "at %s trades no more days later, and says why",
    async (label) => {
      const outside = weekly({ gasless });
      const first = openLife(outside, { killAt: (passed) => passed === label });
      await first.engine.start();
      await turn(outside, first, 10);
      expect(first.isDead()).toBe(true);
      first.db.close();
      const life = await comeBack(outside, 3 * DAY_MS);
      await life.engine.start();
      await turn(outside, life, 60);
      expect([runs(life), outside.signed, outside.service.submissions, life.errors]).toEqual([
        [{ state: "skipped", reason: "window_over" }],
        [],
        [],
        [],
      ]);
      const planned = life.db.prepare("SELECT count(*) FROM swaps").pluck().get();
      expect(planned, "decided anew").toBe(label === "effect.FetchQuote.before" ? 1 : 0);
    },
  );

  test("trades where it comes back within its window, and a minute after it where nothing is to be approved", async () => {
    for (const afterMs of gasless === "never" ? [20_000] : [20_000, 120_000]) {
      const outside = weekly({ gasless });
      const first = openLife(outside, { killAt: (passed) => passed === "effect.FetchQuote.before" });
      await first.engine.start();
      await turn(outside, first, 10);
      expect([afterMs, first.isDead()]).toEqual([afterMs, true]);
      first.db.close();
      const life = await comeBack(outside, afterMs);
      await life.engine.start();
      await turn(outside, life, 120);
      expect(runs(life)).toEqual([{ state: "filled", reason: null }]);
    }
  });
});

test("an order that was about to be signed when the process died is not signed once it has ended", async () => {
  const outside = weekly({ gasless: "prefer" });
  const first = openLife(outside, { killAt: (passed) => passed === "gasless.sign.before" });
  await first.engine.start();
  await turn(outside, first, 10);
  expect([first.isDead(), outside.signed]).toEqual([true, []]);
  first.db.close();
  const life = await comeBack(outside, 3 * DAY_MS);
  await life.engine.start();
  await turn(outside, life, 60);
  expect([outside.signed, outside.service.submissions, life.errors]).toEqual([[], [], []]);
  expect(runs(life)).toEqual([{ state: "skipped", reason: "not_signed_in_time" }]);
  expect(life.db.prepare("SELECT count(*) FROM capabilities WHERE live = 1").pluck().get()).toBe(0);
});

test("a limit order that fired days ago does not buy above its limit, and is armed as before", async () => {
  const leg = thresholdLeg({
    trigger: { kind: "cross", side: "below", price: pairPriceOf(1_100_000_000n, USDC) },
    amount: { raw: 100_000_000n },
  } as Parameters<typeof thresholdLeg>[0]);
  const outside = createOutside(SLOT_MS - 1_500, {
    ...thresholdSpec({ sell: USDC, buy: WETH, legs: [leg] }),
    ...OWNER,
    gasless: "prefer",
  } as Partial<StrategySpec>);
  outside.service.refuses = refusal("SERVICE_UNREACHABLE", true);
  const first = openLife(outside);
  await first.engine.start();
  await turn(outside, first, 30);
  first.kill();
  first.db.close();
  outside.service.refuses = undefined;
  const life = await comeBack(outside, 3 * DAY_MS);
  const { prices } = life.context.deps;
  let price = "1105";
  Object.assign(prices, {
    price: async (token: typeof WETH) => ({
      ...priceOf(token),
      ...(token.address === WETH.address ? { usd: usd(price) } : {}),
      atSeconds: outside.clock.nowMs() / 1_000,
    }),
  });
  await life.engine.start();
  await turn(outside, life, 60);
  expect([outside.signed, life.errors]).toEqual([[], []]);
  price = "1000";
  await turn(outside, life, 120);
  expect(life.db.prepare("SELECT count(*) FROM swaps WHERE state IN ('confirmed', 'final')").pluck().get()).toBe(1);
});

describe("the second part of an order whose first one was bought", () => {
  const HALVES = {
    buy: [
      { token: WETH, weight: 500_000n },
      { token: WBTC, weight: 500_000n },
    ],
  };

  test("has a window of its own, however long the first one took", async () => {
    const outside = weekly({ ...HALVES, gasless: "never", retryForSeconds: 3 });
    const life = openLife(outside);
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    await turn(outside, life, 60);
    expect([runs(life), life.errors]).toEqual([[{ state: "filled", reason: null }], []]);
  });

  test.each([
    ["it was asked for", (label: string, asked: number) => label === "effect.FetchQuote.before" && asked === 2],
    ["its turn had come", (label: string) => label === "commit.submission-accepted.after"],
  ])("is not bought days later where the process died when %s, and says why", async (_when, isPlace) => {
    const outside = weekly({ ...HALVES, gasless: "prefer" });
    let asked = 0;
    const isKilled = (label: string): boolean => {
      if (label === "effect.FetchQuote.before") asked += 1;
      return isPlace(label, asked);
    };
    const first = openLife(outside, { killAt: isKilled });
    await first.engine.start();
    await turn(outside, first, 40);
    expect(first.isDead()).toBe(true);
    first.db.close();
    for (let block = 0; block < 10; block += 1) {
      await outside.clock.advance(1_000);
      outside.chain.mine();
    }
    const life = await comeBack(outside, 3 * DAY_MS);
    await life.engine.start();
    await turn(outside, life, 60);
    expect([runs(life), life.errors]).toEqual([[{ state: "partial", reason: "window_over" }], []]);
    expect(life.db.prepare("SELECT state, reason FROM swaps ORDER BY position").all()).toEqual([
      { state: expect.stringMatching(/^(?:confirmed|final)$/), reason: null },
      { state: "skipped", reason: "window_over" },
    ]);
    expect(outside.service.submissions).toHaveLength(1);
    expect(replayAll(life.file)).toEqual({ problems: [], runs: 1 });
  });
});
