import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Run } from "../../src/domain/run/run.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { EngineSettings } from "../../src/engine/engine-context.ts";
import { HUNDRED_USDC, SLOT_MS, USDC, usd } from "../support/builders.ts";
import {
  ACCOUNT,
  createOutside,
  Killed,
  type Life,
  type Outside,
  openLife,
  turn,
  turnUntil,
} from "../support/engine-life.ts";
import { readTransaction } from "../support/fake-chain.ts";

const SHOWN = toPpm(1_000);
const fallback = { afterBlocks: 6, slippage: SHOWN };

function runOf({ db, store }: Life): Run {
  const run = store.run(db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms").pluck().get() ?? "none");
  if (run === undefined) throw new Error("no run yet");
  return run;
}

function isFilled({ db }: Life): boolean {
  return db.prepare("SELECT state FROM runs ORDER BY slot_ms").pluck().get() === "filled";
}

function countSwaps({ db }: Life): number {
  return db.prepare<[], number>("SELECT count(*) FROM swaps").pluck().get() ?? 0;
}

function hiddenWorld(change: Partial<StrategySpec> = {}): Outside {
  const outside = createOutside(SLOT_MS - 1_500, { schedule: { kind: "every", seconds: 120 }, ...change });
  outside.chain.visibility = "private";
  return outside;
}

async function begin(outside: Outside, settings: Partial<EngineSettings> = { fallback }): Promise<Life> {
  const life = openLife(outside, { settings });
  await life.engine.start();
  return life;
}

/** A relay that brings approvals into a block, and no swap. */
function keepsSwaps({ chain }: Outside): void {
  chain.keeps = (raw) => readTransaction(raw).to !== USDC.address;
}

function checkShown({ chain }: Outside): void {
  const kept = new Set(chain.kept);
  expect(kept.size).toBeGreaterThan(0);
  expect(chain.sent.filter((raw) => kept.has(raw))).toEqual([]);
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
  const places = await placesOnTheWay();
  expect(places.length).toBeGreaterThan(20);
  for (const [index] of places.entries()) {
    if (index % EVERY !== 0) continue;
    const outside = hiddenWorld();
    if (index % 2 === 0) keepsSwaps(outside);
    const first = openLife(outside, {
      settings: { fallback },
      killAt: (_label, passed) => passed.length === index + 1,
    });
    await first.engine.start().catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
    await turnUntil(outside, first, { maxSeconds: 240, isDone: () => first.isDead() });
    first.kill();
    const second = await begin(outside);
    await turnUntil(outside, second, { maxSeconds: 400, isDone: () => isFilled(second) });
    expect(second.errors, places[index]).toEqual([]);
    const { swaps, state } = runOf(second);
    const balance = await outside.chain.balance(USDC.address, ACCOUNT);
    expect([state, swaps.filter(({ fill }) => fill !== undefined).length], places[index]).toEqual(["filled", 1]);
    expect(balance, places[index]).toBe(1_000_000_000n - HUNDRED_USDC);
    checkShown(outside);
  }
}, 300_000);

/** In `npm test` some of the places. */
const EVERY = process.env.SWAPD_EVERY_PLACE === undefined ? 9 : 1;

async function placesOnTheWay(): Promise<readonly string[]> {
  const outside = hiddenWorld();
  const life = await begin(outside);
  await turnUntil(outside, life, { maxSeconds: 240, isDone: () => isFilled(life) });
  return [...life.passed];
}
