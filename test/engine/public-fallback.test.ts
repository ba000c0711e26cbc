import { expect, test } from "vitest";
import { HUNDRED_USDC, usd } from "../support/builders.ts";
import { type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { readTransaction } from "../support/fake-chain.ts";
import {
  begin,
  checkShown,
  fallback,
  hiddenWorld,
  isFilled,
  keepsSwaps,
  killOnTheWay,
  runOf,
  SHOWN,
} from "../support/fallback-life.ts";

function countSwaps({ db }: Life): number {
  return db.prepare<[], number>("SELECT count(*) FROM swaps").pluck().get() ?? 0;
}

test("sells once and publicly, by an order of its own with less slippage, what the relay brought into no block", async () => {
  const outside = hiddenWorld();
  const life = await begin(outside);
  await turnUntil(outside, life, { maxSeconds: 240, isDone: () => isFilled(life) });
  await turn(outside, life, 5);
  expect(life.errors).toEqual([]);
  const { swaps, state } = runOf(life);
  expect(state).toBe("filled");
  const [last] = swaps.slice(-1);
  expect(last).toMatchObject({ fallback: { slippage: SHOWN }, fill: { sold: HUNDRED_USDC } });
  expect(last?.quote?.slippagePpm).toBe(SHOWN);
  const least = ((last?.quote?.amountOut ?? 0n) * (1_000_000n - SHOWN)) / 1_000_000n;
  expect(last?.terms?.amountOutMin).toBeGreaterThanOrEqual(least);
  expect(swaps.slice(0, -1).every(({ state }) => state === "skipped" || state === "cancelled")).toBe(true);
  checkShown(outside);
});

test("tries a swap again whose approval went through, and ends the private one as cancelled", async () => {
  const outside = hiddenWorld();
  keepsSwaps(outside);
  const life = await begin(outside);
  await turnUntil(outside, life, { maxSeconds: 240, isDone: () => isFilled(life) });
  expect(life.errors).toEqual([]);
  const { swaps } = runOf(life);
  expect(swaps.map(({ state, reason }) => [state, reason])).toEqual([
    ["cancelled", "cancelled"],
    [expect.stringMatching(/confirmed|final/), undefined],
  ]);
  const [hidden, shown] = swaps.map(({ terms }) => terms?.amountOutMin ?? 0n);
  expect(shown).toBeGreaterThan(hidden ?? 0n);
  checkShown(outside);
});

test("tries what a person approved publicly too, though finality takes longer than its window", async () => {
  const outside = hiddenWorld({ retryForSeconds: 10, approveAboveUsd: usd("99.99"), approveWithinSeconds: 120 });
  keepsSwaps(outside);
  const life = await begin(outside);
  await turn(outside, life, 15);
  const { id } = runOf(life);
  life.store.addRequest({ command: "approve", arguments: { run: id }, madeBy: "ada", madeAtMs: outside.clock.nowMs() });
  await turnUntil(outside, life, { maxSeconds: 240, isDone: () => isFilled(life) });
  expect(life.errors).toEqual([]);
  expect(runOf(life).swaps.map(({ state, fallback }) => [state, fallback])).toEqual([
    ["cancelled", undefined],
    [expect.stringMatching(/confirmed|final/), { slippage: SHOWN }],
  ]);
  checkShown(outside);
});

test("shows nothing where the key was taken out before the second order was signed", async () => {
  const outside = hiddenWorld();
  keepsSwaps(outside);
  const life = await begin(outside);
  await turnUntil(outside, life, { maxSeconds: 240, isDone: () => countSwaps(life) === 2 });
  life.kill();
  const second = await begin(outside, {});
  await turn(outside, second, 30);
  expect(second.errors).toEqual([]);
  expect(runOf(second).swaps[1]?.intentId).toBeDefined();
  expect(outside.chain.sent.map((raw) => readTransaction(raw).data)).toEqual(outside.chain.sent.map(() => "0x"));
  checkShown(outside);
});

test("shows nothing where the key was taken out before the second order was signed, and after it was given its nonce", async () => {
  const outside = hiddenWorld();
  keepsSwaps(outside);
  const isSecond = (label: string): boolean => label === "lane.reserve.after" && countSwaps(life) === 2;
  const life: Life = openLife(outside, { settings: { fallback }, killAt: isSecond });
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 240, isDone: () => life.isDead() });
  expect([life.isDead(), life.errors]).toEqual([true, []]);
  const second = await begin(outside, {});
  await turn(outside, second, 30);
  expect(second.errors).toEqual([]);
  expect(outside.chain.sent.map((raw) => readTransaction(raw).data)).toEqual(outside.chain.sent.map(() => "0x"));
  checkShown(outside);
});

test("waits for the relay without the key", async () => {
  const outside = hiddenWorld();
  const life = await begin(outside, {});
  await turn(outside, life, 60);
  expect([life.errors, outside.chain.sent]).toEqual([[], []]);
  expect(runOf(life).state).toBe("executing");
});

test("a kill anywhere on the way neither shows what was private nor sells twice", async () => {
  await killOnTheWay(EVERY);
}, 300_000);

/** public-fallback-kill.long.test.ts has all places. */
const EVERY = 18;
