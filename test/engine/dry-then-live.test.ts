import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { ThresholdMemory } from "../../src/domain/strategy/threshold-memory.ts";
import { dcaSpec, policySample, SLOT_MS, thresholdLeg, thresholdSpec, USDC, WETH } from "../support/builders.ts";
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

const { sell: _sell, buy: _buy, ...COMMON } = dcaSpec();

test("TWAP-13 a plan without a start that was watched in a dry run for its length sells all of it once it is live", async () => {
  const outside = createOutside(SLOT_MS - 1_500);
  const whole = 10n ** 18n;
  const spec = ownedBy(outside, {
    ...{ ...COMMON, kind: "twap", id: "exit", sell: { token: WETH, raw: whole }, buy: USDC, startMs: undefined },
    ...{ slices: 5, everySeconds: 60, spread: toPpm(0), retryForSeconds: 20, exit: true },
    slice: { unfilled: "roll", min: whole / 20n, max: whole / 5n },
    limit: { floor: undefined, abort: undefined },
  } as Partial<StrategySpec>);
  const dry = await live(outside, spec, { live: false, seconds: 400 });
  expect(dry.store.mode(spec.id)?.mode ?? "active").toBe("active");
  dry.db.close();
  outside.service.requests.length = 0;
  const after = await live(outside, spec, { live: true, seconds: 400 });
  expect(new Set(outside.service.requests.map(({ amount }) => amount))).toEqual(new Set([whole / 5n]));
  expect(outside.chain.ledger.balance(WETH.address, ACCOUNT)).toBe(2n * whole);
  expect(after.store.mode(spec.id)?.mode).toBe("paused");
});

test("VAL-6 a path that was watched in a dry run goes live with one step", async () => {
  const outside = createOutside(SLOT_MS - 1_500);
  const step = 50_000_000n;
  const spec = ownedBy(outside, {
    ...{ ...COMMON, kind: "value-averaging", id: "path", pay: USDC, buy: WETH, startMs: undefined, allowSell: false },
    ...{ path: { step, growth: toPpm(0) }, maxContribution: 4n * step, min: 10_000_000n, onInsufficient: "skip" },
  } as Partial<StrategySpec>);
  const dry = await live(outside, spec, { live: false, seconds: 350 });
  expect(outside.service.requests.length, "a dry slot shows what the first live one would buy").toBeGreaterThan(3);
  expect(new Set(outside.service.requests.map(({ amount }) => amount))).toEqual(new Set([step]));
  dry.db.close();
  outside.service.requests.length = 0;
  await live(outside, spec, { live: true, seconds: 30 });
  expect(new Set(outside.service.requests.map(({ amount }) => amount))).toEqual(new Set([step]));
  expect(outside.chain.ledger.balance(USDC.address, ACCOUNT)).toBe(1_000_000_000n - step);
});
