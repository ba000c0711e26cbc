import { expect, test } from "vitest";
import { createHistoryReader } from "../../src/adapters/sqlite/daemon/history-rows.ts";
import { runJson } from "../../src/app/commands/history.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { SwapHistory } from "../../src/ports/history.ts";
import { ETH, priceOf, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";

const START_MS = SLOT_MS - 1_500;

async function begin(change: Partial<StrategySpec> = {}) {
  const outside = createOutside(START_MS, change);
  const life = openLife(outside);
  await life.engine.start();
  return { outside, life };
}

function theSwap(life: Life): SwapHistory {
  const swap = createHistoryReader(life.db).runs({ limit: 1 })[0]?.swaps.at(-1);
  if (swap === undefined) throw new Error("no swap yet");
  return swap;
}

function isIn(life: Life, ...states: readonly string[]): boolean {
  const [run] = createHistoryReader(life.db).runs({ limit: 1 });
  return run?.swaps.some(({ state }) => states.includes(state)) === true;
}

async function until(outside: Outside, life: Life, ...states: readonly string[]): Promise<void> {
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => isIn(life, ...states) })).toBe(true);
  expect(life.errors).toEqual([]);
}

/** Lets the swap be sent, and stops before a block could take it. */
async function untilSent(outside: Outside, life: Life): Promise<void> {
  await until(outside, life, "approving");
  outside.chain.mine();
  for (let polls = 0; polls < 100 && !isIn(life, "submitted"); polls += 1) {
    await outside.clock.advance(100);
    if (isIn(life, "approving") && polls % 10 === 9) outside.chain.mine();
    await quiet();
  }
  expect(isIn(life, "submitted")).toBe(true);
}

/** Unix seconds of the block that a transaction is in, by the chain alone. */
async function timeOf(outside: Outside, hash: string | null): Promise<number | undefined> {
  const block = outside.chain.receipts().find((receipt) => receipt.hash === hash)?.blockNumber;
  return block === undefined ? undefined : (await outside.chain.block(block))?.timestamp;
}

test("a fill of our own keeps its block's time, the prices it was cleared by, and the gas of swap and approval", async () => {
  const { outside, life } = await begin();
  await until(outside, life, "final");
  const swap = theSwap(life);
  expect(swap.blockTimeSeconds).toBe(await timeOf(outside, swap.hash));
  expect(swap.fees).toEqual({ swap: "0", affiliate: "0" });
  for (const [name, token] of [
    ["sold", USDC],
    ["bought", WETH],
    ["native", ETH],
  ] as const) {
    const price = swap.prices?.[name];
    expect(price?.usd).toBe(priceOf(token).usd.toString());
    expect(price?.source).toBe(priceOf(token).source);
    expect((swap.blockTimeSeconds ?? 0) - (price?.atSeconds ?? 0)).toBeLessThan(30);
  }
  expect(swap.costs.map(({ purpose, kind, succeeded }) => [purpose, kind, succeeded])).toEqual([
    ["approve", "original", true],
    ["swap", "original", true],
  ]);
  for (const cost of swap.costs) {
    expect(cost).toMatchObject({ gasUsed: "100000", gasPrice: outside.chain.baseFee.toString(), dataFee: null });
    expect(cost.blockTimeSeconds).toBe(await timeOf(outside, cost.hash));
  }
  expect(swap.costs.at(-1)?.hash).toBe(swap.hash);
});

test("a gasless fill keeps its block's time, its fees and prices, and costs no gas", async () => {
  const { outside, life } = await begin({ gasless: "only" });
  await until(outside, life, "final");
  const swap = theSwap(life);
  expect(swap.blockTimeSeconds).toBe(await timeOf(outside, swap.hash));
  expect(swap.fees).toEqual({ swap: "500000", affiliate: "0" });
  expect(swap.prices?.sold?.usd).toBe(priceOf(USDC).usd.toString());
  expect(swap.costs).toEqual([]);
});

test("a fill that a reorganisation moved keeps the time and the cost of its last block", async () => {
  const { outside, life } = await begin();
  await until(outside, life, "mined", "confirmed");
  const before = theSwap(life);
  outside.chain.reorganise((await outside.chain.latest()).number - (before.blockNumber ?? 0) + 1);
  await turn(outside, life, 3);
  await until(outside, life, "final");
  const after = theSwap(life);
  expect(after.blockNumber).not.toBe(before.blockNumber);
  expect(after.blockTimeSeconds).toBe(await timeOf(outside, after.hash));
  expect(after.costs.at(-1)?.blockNumber).toBe(after.blockNumber);
});

test("a swap that reverts is no fill, and what its transactions cost is kept with the price of their coin", async () => {
  const { outside, life } = await begin();
  await untilSent(outside, life);
  outside.chain.ledger.rate = 1n;
  await until(outside, life, "reverted");
  const swap = theSwap(life);
  expect(swap).toMatchObject({ sold: null, blockTimeSeconds: null, fees: { swap: null, affiliate: null } });
  expect(swap.costs.map(({ purpose, succeeded }) => [purpose, succeeded])).toEqual([
    ["approve", true],
    ["swap", false],
  ]);
  expect(swap.prices?.native?.usd).toBe(priceOf(ETH).usd.toString());
});

test("a cancelled swap keeps what the cancellation cost", async () => {
  const { outside, life } = await begin();
  await untilSent(outside, life);
  const swapId = theSwap(life).id;
  outside.chain.baseFee *= 1_000n;
  expect((await life.lane.cancel(`${swapId}.swap`, "ops")).kind).toBe("cancelling");
  await turn(outside, life, 2);
  outside.chain.baseFee /= 1_000n;
  await until(outside, life, "cancelled", "final");
  const swap = theSwap(life);
  expect(swap.costs.at(-1)).toMatchObject({ purpose: "swap", kind: "cancel", succeeded: true });
});

test("the JSON of a run says all of it: instants in UTC, wei as text", async () => {
  const { outside, life } = await begin();
  await until(outside, life, "final");
  const [run] = createHistoryReader(life.db).runs({ limit: 1 });
  const { swaps } = runJson(run as NonNullable<typeof run>) as { swaps: Record<string, unknown>[] };
  const [swap] = swaps;
  expect(swap?.blockTime).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const cost = (100_000n * outside.chain.baseFee).toString();
  expect(swap?.transactions).toMatchObject([
    { purpose: "approve", cost },
    { purpose: "swap", cost },
  ]);
});
