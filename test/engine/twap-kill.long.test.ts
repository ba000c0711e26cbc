import fc from "fast-check";
import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Run } from "../../src/domain/run/run.ts";
import { isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import type { TwapSpec } from "../../src/domain/strategy/twap.ts";
import { sliceSizes } from "../../src/domain/strategy/twap-slices.ts";
import { dcaSpec, POOL, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { topicOf } from "../support/reading-samples.ts";

const TOTAL = 300_000_007n;
const EVERY_SECONDS = 60;
const spec: TwapSpec = {
  ...dcaSpec({ id: "slices" }),
  kind: "twap",
  schedule: { kind: "every", seconds: EVERY_SECONDS },
  retryForSeconds: 40,
  sell: { token: USDC, raw: TOTAL },
  buy: WETH,
  startMs: SLOT_MS,
  slices: 3,
  everySeconds: EVERY_SECONDS,
  spread: toPpm(200_000),
  slice: { unfilled: "roll", max: 250_000_000n, min: 1_000_000n },
  limit: { floor: undefined, abort: undefined },
  exit: false,
  wallet: { name: "main", address: ACCOUNT },
  recipient: ACCOUNT,
};
const SIZES = sliceSizes({ id: spec.id, total: TOTAL, slices: spec.slices, spread: spec.spread });

function runsOf(life: Life): readonly Run[] {
  const ids = life.db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms").pluck().all();
  return ids.flatMap((id) => life.store.run(id) ?? []);
}

function isCompleted(life: Life): boolean {
  const isOver = runsOf(life).every((run) => isRunEnd(run.state) && run.swaps.every((swap) => isSwapEnd(swap.state)));
  return isOver && life.store.mode(spec.id)?.mode === "paused" && life.store.nextEffectMs() === undefined;
}

async function liveOn(outside: Outside, killAfter?: number): Promise<Life> {
  const killAt = (_label: string, passed: readonly string[]): boolean => passed.length === killAfter;
  const life = openLife(outside, killAfter === undefined ? {} : { killAt });
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 400, isDone: () => isCompleted(life) });
  expect(life.errors).toEqual([]);
  return life;
}

/** What really left the account for a pool, by the chain alone. */
function soldOnChain(outside: Outside): readonly bigint[] {
  return outside.chain
    .receipts()
    .flatMap(({ logs }) => logs)
    .filter(
      (log) => log.address === USDC.address && log.topics[1] === topicOf(ACCOUNT) && log.topics[2] === topicOf(POOL),
    )
    .map((log) => BigInt(log.data));
}

function expectAllSold(outside: Outside, life: Life): void {
  expect(isCompleted(life), JSON.stringify(runsOf(life).map(({ state, reason }) => [state, reason]))).toBe(true);
  expect(life.store.mode(spec.id)).toMatchObject({ setBy: "strategy", reason: expect.stringContaining("completed") });
  expect(outside.reported.filter(({ code }) => code === "strategy_completed")).toHaveLength(1);
  expect(life.db.prepare("SELECT count(*) FROM ledger WHERE state = 'reserved'").pluck().get()).toBe(0);
}

test("TWAP-1 a plan sells its slices one after another on the chain, and stops itself with the last", async () => {
  const outside = createOutside(SLOT_MS - 1_500, spec);
  const life = await liveOn(outside);
  expectAllSold(outside, life);
  expect(soldOnChain(outside)).toEqual(SIZES);
});

test("TWAP-3 never sells more than its total, killed again and again wherever chance chooses", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 8 }), async (kills) => {
      const outside = createOutside(SLOT_MS - 1_500, spec);
      for (const after of kills) {
        const killed = await liveOn(outside, after);
        killed.db.close();
        if (!killed.isDead()) break;
      }
      const life = await liveOn(outside);
      expect(life.store.mode(spec.id)?.mode).toBe("paused");
      const sold = soldOnChain(outside).reduce((sum, raw) => sum + raw, 0n);
      expect(sold).toBe(TOTAL);
    }),
    { numRuns: 8 },
  );
});
