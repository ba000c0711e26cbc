import { expect } from "vitest";
import { valueDown } from "../../src/domain/money/price.ts";
import type { Run } from "../../src/domain/run/run.ts";
import { isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import { priceOf, rebalanceSpec, SLOT_MS, USDC, WBTC, WETH } from "./builders.ts";
import { type CourseWorld, openCourseLife } from "./course-kills.ts";
import type { Course } from "./courses.ts";
import { ACCOUNT, createOutside, type Life, type Outside, turnUntil } from "./engine-life.ts";
import {
  allowancesOf,
  expectEachFillOnce,
  expectOneEndForEachSlot,
  expectRowsToAddUp,
  leftForPools,
} from "./rows-add-up.ts";

const EVERY_SECONDS = 30;
/** Percent of the mix; the bands are five points wide. */
const TARGETS = [
  [WETH, 40],
  [WBTC, 40],
  [USDC, 20],
] as const;
const BAND_POINTS = 5;

export function runsOf(life: Life): readonly Run[] {
  const ids = life.db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms").pluck().all();
  return ids.flatMap((id) => life.store.run(id) ?? []);
}

/** What the strategy remembers. */
export function mixMemory(life: Life): { owed?: object; doneMs?: number } {
  return JSON.parse(life.store.strategy("mix")?.memory ?? "{}");
}

/** Holds what the account has by the chain alone against the targets. */
export function expectInBands({ chain }: Outside, what: string): void {
  const values = TARGETS.map(([token]) =>
    valueDown({ raw: chain.ledger.balance(token.address, ACCOUNT), decimals: token.decimals }, priceOf(token).usd),
  );
  const total = values.reduce((sum, value) => sum + value, 0n);
  for (const [index, [token, target]] of TARGETS.entries()) {
    const percent = Number(((values[index] ?? 0n) * 10_000n) / total) / 100;
    expect(Math.abs(percent - target), `${what}: ${percent} % of ${token.symbol}`).toBeLessThan(BAND_POINTS);
  }
}

/** The rebalance has reached its destination, whatever any slot began has its end, and no allowance is left. */
function isOver(outside: Outside, life: Life): boolean {
  const isEnded = runsOf(life).every((run) => isRunEnd(run.state) && run.swaps.every(({ state }) => isSwapEnd(state)));
  const isIdle = life.store.nextEffectMs() === undefined && allowancesOf(outside).length === 0;
  return isEnded && isIdle && mixMemory(life).doneMs !== undefined;
}

/** 3000 dollars of ether and 1000 USDC on a course, of which two fifths each shall be ether and bitcoin. */
export function openMix(course: Course): CourseWorld {
  const spec = rebalanceSpec();
  const outside = createOutside(SLOT_MS - 1_500, {
    ...spec,
    ...{ schedule: { kind: "every", seconds: EVERY_SECONDS }, retryForSeconds: 25, gasless: course.gasless },
    ...{ wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT },
    trades: { ...spec.trades, via: undefined },
  });
  const hear = course.begin(outside);
  return {
    outside,
    liveOn: async (killAt) => {
      const life = openCourseLife(outside, hear, killAt);
      await life.engine.start();
      await turnUntil(outside, life, { maxSeconds: 400, isDone: () => isOver(outside, life) });
      expect(life.errors).toEqual([]);
      return life;
    },
    expectEnd: (life, what) => expectRebalanced(outside, life, what),
  };
}

/** Ether and dollars were sold once each, by the chain, and the rows say the same. */
function expectRebalanced(outside: Outside, life: Life, what: string): void {
  const runs = runsOf(life).map(({ state, reason }) => [state, reason]);
  expect(isOver(outside, life), `${what}: ${JSON.stringify(runs)} ${allowancesOf(outside)}`).toBe(true);
  expectInBands(outside, what);
  const sold = leftForPools(outside).map(({ token }) => token);
  expect(sold.sort(), what).toEqual([USDC.address, WETH.address].sort());
  expect(mixMemory(life).owed, what).toEqual({});
  expectRowsToAddUp(life);
  expectOneEndForEachSlot(outside, EVERY_SECONDS);
  expectEachFillOnce(outside);
}
