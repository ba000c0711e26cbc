import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { createBudgetOutside, runsOf } from "../support/budget-life.ts";
import { policySample, priceOf, SLOT_MS, thresholdLeg, thresholdSpec, USDC, usd, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { openPaperLife } from "../support/paper-life.ts";
import { replayAll } from "../support/replays.ts";

const START_MS = SLOT_MS - 1_500;
const OWN = { wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT, retryForSeconds: 20 };
const level = thresholdLeg({
  trigger: { kind: "level", side: "above", price: pairPriceOf(900_000_000n, USDC) },
  rearm: { price: undefined, cooldownSeconds: 150, times: undefined },
});
const step = (id: string, dollars: bigint) =>
  thresholdLeg({
    ...{ id, role: "level", ifAlreadyTrue: "wait", amount: { share: toPpm(500_000) } },
    trigger: { kind: "cross", side: "above", price: pairPriceOf(dollars * 1_000_000n, USDC) },
  });

interface Case {
  readonly outside: () => Outside;
  readonly maxPerDayUsd?: string;
  /** dollars for an ether by the minute; default: a thousand */
  readonly dollars?: readonly string[];
  /** fills, and why the other slots came to nothing */
  readonly expected: { readonly fills: number; readonly reasons: readonly string[] };
}

const outsideOf = (change: Partial<StrategySpec>) => () => createOutside(START_MS, { ...change, ...OWN });

const CASES: Readonly<Record<string, Case>> = {
  "a budget of a day": {
    outside: createBudgetOutside,
    expected: { fills: 4, reasons: ["budget_period_spent"] },
  },
  "a cooldown": {
    outside: outsideOf(thresholdSpec({ legs: [level] })),
    expected: { fills: 2, reasons: ["cooling_down"] },
  },
  "what a ladder remembers": {
    outside: outsideOf(
      thresholdSpec({ id: "ladder", allocation: "free", legs: [step("first", 1_004n), step("second", 1_008n)] }),
    ),
    dollars: ["1000", "1005", "1005", "1009"],
    expected: { fills: 2, reasons: ["not_triggered"] },
  },
  "a cap of the policy": {
    outside: outsideOf({}),
    maxPerDayUsd: "250",
    expected: { fills: 2, reasons: ["DAILY_CAP_EXCEEDED"] },
  },
};

/** Two lives of three minutes each, the first of which is killed. */
async function story({ outside: begin, maxPerDayUsd, dollars }: Case, open: typeof openLife) {
  const outside = begin();
  const startMs = outside.clock.nowMs();
  const policy = policySample({
    recipients: [ACCOUNT],
    ...(maxPerDayUsd !== undefined && { maxPerDayUsd: usd(maxPerDayUsd) }),
  });
  const live = async (): Promise<Life> => {
    const life = open(outside, { settings: { policy } });
    life.context.deps.prices.price = async (token) => {
      const nowMs = outside.clock.nowMs();
      const sample = { ...priceOf(token), atSeconds: nowMs / 1_000 };
      const now = dollars?.[Math.floor((nowMs - startMs) / 60_000)] ?? dollars?.at(-1);
      return token.address === WETH.address && now !== undefined ? { ...sample, usd: usd(now) } : sample;
    };
    await life.engine.start();
    await turn(outside, life, 180);
    return life;
  };
  const killed = await live();
  killed.kill();
  killed.db.close();
  const life = await live();
  expect([killed.errors, life.errors, replayAll(life.file).problems]).toEqual([[], [], []]);
  const runs = runsOf(life).map(({ slotMs, state, reason, swaps }) => ({
    ...{ slotMs, state, reason },
    swaps: swaps.map((swap) => [swap.state, swap.reason, `${swap.fill?.sold}`]),
  }));
  const gaps = life.db.prepare("SELECT first_slot_ms, count, reason FROM gaps ORDER BY first_slot_ms").all();
  const memory = life.db.prepare("SELECT memory FROM strategies").pluck().all();
  return { outside, told: { runs, gaps, memory } };
}

test.each(Object.entries(CASES))("on paper %s binds slot by slot as live, over a kill too", async (_what, one) => {
  const live = await story(one, openLife);
  const paper = await story(one, openPaperLife);
  expect(paper.told).toEqual(live.told);
  const { runs } = paper.told;
  expect(runs.filter(({ state }) => state === "filled")).toHaveLength(one.expected.fills);
  const text = JSON.stringify(paper.told);
  for (const reason of one.expected.reasons) expect(text).toContain(reason);
  expect(live.outside.signed.length).toBeGreaterThan(0);
  expect([paper.outside.chain.sent, paper.outside.service.submissions]).toEqual([[], []]);
});

test("on paper no order that a relayer alone may fill is signed or handed over, though live it is filled", async () => {
  const lives = [openLife, openPaperLife].map(async (open) => {
    const outside = createOutside(START_MS, { ...OWN, gasless: "only" });
    const life = open(outside);
    await life.engine.start();
    await turn(outside, life, 50);
    const [run] = runsOf(life);
    const signatures = life.db.prepare("SELECT count(*) FROM signatures").pluck().get();
    const submitted = outside.service.submissions.length;
    return { run: [run?.state, run?.reason], signatures, submitted, errors: life.errors };
  });
  expect(await Promise.all(lives)).toEqual([
    { run: ["filled", undefined], signatures: 2, submitted: 1, errors: [] },
    { run: ["skipped", "gasless_refused"], signatures: 0, submitted: 0, errors: [] },
  ]);
});

test("a fill on paper that never brings its minimum expires as live, and frees its money", async () => {
  const outside = createOutside(START_MS, { ...OWN, gasless: "never" });
  const life = openPaperLife(outside);
  await life.engine.start();
  const isSent = () => runsOf(life).some(({ swaps }) => swaps.some(({ state }) => state === "submitted"));
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isSent })).toBe(true);
  // The market falls between the transaction and the blocks that judge it.
  outside.chain.ledger.rate = 99n;
  const hasEnded = () => runsOf(life).some(({ state }) => state === "failed" || state === "skipped");
  expect(await turnUntil(outside, life, { maxSeconds: 120, isDone: hasEnded })).toBe(true);
  const [run] = runsOf(life);
  expect(run?.swaps.map(({ state }) => state)).toEqual(["cancelled"]);
  expect(life.db.prepare("SELECT state FROM ledger").pluck().all()).toEqual(["released"]);
  expect(life.errors).toEqual([]);
});
