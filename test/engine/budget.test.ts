import { expect, test } from "vitest";
import { withBudget } from "../../src/engine/perform/budget-spans.ts";
import { createBudgetOutside, liveOverMidnight, MIDNIGHT_MS, runsOf, soldByDay } from "../support/budget-life.ts";
import { HUNDRED_USDC, policySample, runSample, SLOT_MS, USDC, usd } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { readingFor, swapIn } from "../support/reading-samples.ts";

const MINUTE_MS = 60_000;

test("BUD-1 sells no more than its budget of a day, and goes on at the midnight of its zone", async () => {
  const outside = createBudgetOutside();
  const life = await liveOverMidnight(outside);
  expect(runsOf(life).map(({ slotMs, state, reason }) => [(slotMs - MIDNIGHT_MS) / MINUTE_MS, state, reason])).toEqual([
    [-3, "filled", undefined],
    [-2, "filled", undefined],
    [-1, "skipped", "budget_period_spent"],
    [0, "filled", undefined],
    [1, "filled", undefined],
    [2, "skipped", "budget_period_spent"],
  ]);
  expect(await soldByDay(outside)).toEqual([2n * HUNDRED_USDC, 2n * HUNDRED_USDC]);
});

test("BUD-9 is checked again before anything is signed, by what the rows say then", async () => {
  const limits = [{ period: "month" as const, most: HUNDRED_USDC }];
  const outside = createOutside(SLOT_MS - 1_500, {
    ...{ budget: { calendar: { timezone: "UTC", limits } }, retryForSeconds: 20 },
  });
  const life = openLife(outside);
  await life.engine.start();
  const { service } = outside;
  const ask = service.quote.bind(service);
  Object.assign(service, {
    // Between the decision and the check a person accepts a fill of another copy of the database.
    quote: async (request: Parameters<typeof ask>[0]) => {
      acceptSale(life);
      return await ask(request);
    },
  });
  const isDone = (): boolean => runsOf(life).some(({ state }) => state === "skipped");
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone })).toBe(true);
  expect(runsOf(life)[0]).toMatchObject({ state: "skipped", reason: "BUDGET_EXCEEDED" });
  expect(outside.signed).toEqual([]);
  const why = life.db.prepare("SELECT detail FROM transitions WHERE subject = 'swap' AND reason = 'BUDGET_EXCEEDED'");
  expect(why.pluck().get()).toContain(
    "sold by the strategy this month, this trade included: 100.000001 USDC, allowed: at most 100 USDC (budget: per_month)",
  );
});

test("BUD-9 goes by the chain's time: a clock that runs ahead opens no period early", async () => {
  const outside = createBudgetOutside();
  const { context } = openLife(outside);
  const swap = swapIn("quoted");
  const reading = {
    ...readingFor(swap),
    head: { number: 7, timestampSeconds: MIDNIGHT_MS / 1_000 - 1, baseFeePerGas: 1n },
  };
  outside.clock.jumpTo(MIDNIGHT_MS + 20_000);
  const answer = await withBudget(context, runSample({ swaps: [swap] }), {
    kind: "facts-read",
    swapId: swap.id,
    reading,
  });
  expect(answer).toMatchObject({ reading: { budget: [{ bound: "day", sinceMs: MIDNIGHT_MS - 86_400_000 }] } });
});

/** A millionth of a dollar that the strategy has sold by another copy of its rows. */
function acceptSale({ db }: Life): void {
  db.prepare(
    `INSERT OR IGNORE INTO differences (id, wallet, kind, scope, key, text, facts, found_at_ms, settled_by, settled_at_ms)
     VALUES (7, ?, 'fill', 'wallet', 'k', 't', '{}', 1, 'ops', ?)`,
  ).run(ACCOUNT, SLOT_MS);
  db.prepare(
    "INSERT OR IGNORE INTO accepted_sales (difference_id, strategy, token, amount) VALUES (7, 'weekly', ?, '1')",
  ).run(USDC.address);
}

test("BUD-7 completes where the policy lets no swap be as small as the rest, instead of asking for it for ever", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { budget: { total: 205_000_000n } });
  const policy = policySample({ recipients: [ACCOUNT], minTradeUsd: usd("10") });
  const life = openLife(outside, { settings: { policy } });
  await life.engine.start();
  await turn(outside, life, 400);
  const tooSmall = life.db.prepare("SELECT count(*) FROM swaps WHERE reason = 'TRADE_TOO_SMALL'").pluck().get();
  expect(tooSmall).toBe(1);
  expect(life.store.mode(outside.spec.id)).toMatchObject({ mode: "paused" });
  expect(outside.reported.filter(({ code }) => code === "strategy_completed")).toHaveLength(1);
});
