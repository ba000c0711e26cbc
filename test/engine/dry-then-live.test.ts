import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { ThresholdMemory } from "../../src/domain/strategy/threshold-memory.ts";
import { policySample, SLOT_MS, thresholdLeg, thresholdSpec, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";

/** A life on the file of the ones before it, of so many seconds. */
async function live(outside: Outside, spec: StrategySpec, life: { live: boolean; seconds: number }): Promise<Life> {
  const policy = policySample({ recipients: [ACCOUNT] });
  const opened = openLife(outside, { settings: { policy, strategies: [{ spec, specHash: "x" }], live: life.live } });
  await opened.engine.start();
  await turn(outside, opened, life.seconds);
  await opened.engine.stop();
  expect(opened.errors).toEqual([]);
  return opened;
}

function ownedBy({ spec: { wallet, recipient } }: Outside, change: Partial<StrategySpec>): StrategySpec {
  return { ...change, wallet, recipient } as StrategySpec;
}

test("THR-10 a stop whose first floor no quote reached in a dry run begins with that floor once it is live", async () => {
  const outside = createOutside(SLOT_MS - 1_500);
  const floor = { steps: [toPpm(1_000), toPpm(50_000)] } as const;
  const trigger = { kind: "cross", side: "below", price: pairPriceOf(1_005_000_000n, USDC) } as const;
  const spec = ownedBy(outside, thresholdSpec({ legs: [thresholdLeg({ trigger, floor })], retryForSeconds: 20 }));
  const dry = await live(outside, spec, { live: false, seconds: 400 });
  const attempts = dry.db.prepare("SELECT count(*) FROM swaps WHERE reason = 'PRICE_LIMIT_NOT_MET'").pluck().get();
  expect(attempts).toBeGreaterThan(1);
  const memory = JSON.parse(dry.store.strategy(spec.id)?.memory ?? "") as ThresholdMemory;
  expect(memory.legs.main?.at).toMatchObject({ state: "armed", unmet: 0 });
});
