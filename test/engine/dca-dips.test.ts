import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { isSwapEnd } from "../../src/domain/run/states.ts";
import { HUNDRED_USDC, SLOT_MS, USDC, usd, WBTC, WETH } from "../support/builders.ts";
import { createOutside, type Life, openLife, turnUntil } from "../support/engine-life.ts";

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** An hour of WETH at 2000 dollars for each of the last hours but the given number; now it stands at 1000. */
async function buyAfter(missing: number): Promise<Life> {
  const reference = { kind: "high", seconds: HOURS * 3_600 } as const;
  const tiers = [{ drop: toPpm(500_000), multiplier: toPpm(2_000_000) }];
  const outside = createOutside(SLOT_MS - 1_500, {
    ...{ dips: { of: WETH, reference, tiers, maxMultiplier: undefined }, retryForSeconds: 50 },
    buy: [
      { token: WETH, weight: toPpm(600_000) },
      { token: WBTC, weight: toPpm(400_000) },
    ],
    budget: { total: 2n * HUNDRED_USDC, maxRuns: 1 },
  });
  const life = openLife(outside);
  for (let hour = missing; hour < HOURS; hour += 1) {
    life.store.addPriceSample(WETH.address, SLOT_MS - hour * HOUR_MS, usd("2000"));
  }
  await life.engine.start();
  const isDone = (): boolean =>
    life.store.mode("weekly") !== undefined && swapsOf(life).every(({ state }) => isSwapEnd(state));
  expect(await turnUntil(outside, life, { maxSeconds: 120, isDone })).toBe(true);
  expect(life.errors).toEqual([]);
  return life;
}

function swapsOf({ db, store }: Life) {
  const ids = db.prepare<[], string>("SELECT id FROM runs").pluck().all();
  return ids.flatMap((id) => store.run(id)?.swaps ?? []);
}

const whyOf = ({ db }: Life) =>
  db.prepare("SELECT detail FROM transitions WHERE subject = 'run' AND to_state = 'executing'").pluck().all();

test("DCA-15 a recorded fall multiplies the order, which is split and sold exactly", async () => {
  const life = await buyAfter(0);
  expect(whyOf(life)).toEqual(["sells 200 USDC: WETH is 50% under its high of 24 hours: 2x"]);
  expect(swapsOf(life).map(({ buy, fill }) => [buy.symbol, fill?.sold])).toEqual([
    ["WETH", 120_000_000n],
    ["WBTC", 80_000_000n],
  ]);
  expect(life.store.soldBy("weekly")).toEqual(new Map([[USDC.address, 2n * HUNDRED_USDC]]));
  expect(life.store.mode("weekly")).toMatchObject({ mode: "paused", reason: "completed: bought 1 of 1 times" });
});

test("DCA-16 a fall that too few recorded hours report multiplies nothing", async () => {
  const life = await buyAfter(6);
  expect(whyOf(life)).toEqual(["sells 100 USDC: only 19 of 24 hours are known: not multiplied"]);
  expect(swapsOf(life).map(({ fill }) => fill?.sold)).toEqual([60_000_000n, 40_000_000n]);
});
