import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { parseUsd, type UsdPrice } from "../../../src/domain/money/price.ts";
import type { DcaSpec } from "../../../src/domain/strategy/dca.ts";
import type { PriceBar } from "../../../src/domain/strategy/decision.ts";
import type { Dips } from "../../../src/domain/strategy/dips.ts";
import { decideStrategy, initialStrategyMemory, strategyNeeds } from "../../../src/domain/strategy/strategy.ts";
import { common, of, USDC, view, WETH } from "./world.ts";

const HOUR_MS = 3_600_000;
/** An instant on a whole hour. */
const NOW_MS = 1_700_006_400_000;
const HOURS = 10;

const tier = (drop: number, multiplier: number) => ({
  drop: toPpm(drop * 10_000),
  multiplier: toPpm(multiplier * 1_000_000),
});

function strategyWith(change: Partial<Dips> = {}, budget?: bigint): DcaSpec {
  const dips: Dips = {
    of: WETH,
    reference: { kind: "high", seconds: HOURS * 3_600 },
    tiers: [tier(25, 2), tier(10, 1.5)],
    maxMultiplier: undefined,
    ...change,
  };
  return {
    ...common,
    kind: "dca",
    sell: { token: USDC, raw: of(USDC, 100) },
    buy: WETH,
    dips,
    budget: budget === undefined ? undefined : { total: budget },
  };
}

const usd = (dollars: number): UsdPrice => parseUsd(String(dollars)) as UsdPrice;

/** The bar of the hour that began so many hours ago. */
function bar(hoursAgo: number, prices: { high: number; close: number }): PriceBar {
  const hourMs = NOW_MS - hoursAgo * HOUR_MS;
  return { hourMs, high: usd(prices.high), low: usd(1), close: usd(prices.close), samples: 60 };
}

/** Bars of the last hours, all alike. */
function bars(count: number, high = 2_000, close = 1_000): PriceBar[] {
  return Array.from({ length: count }, (_, index) => bar(count - 1 - index, { high, close }));
}

function sample(strategy: DcaSpec, seen: { price?: string; bars: readonly PriceBar[]; free?: bigint }) {
  const world = view({
    nowMs: NOW_MS,
    free: [[USDC, seen.free ?? of(USDC, 1_000_000)]],
    prices: seen.price === undefined ? [] : [[WETH, seen.price]],
    bars: [[WETH, seen.bars]],
  });
  const { outcome } = decideStrategy(strategy, world, initialStrategyMemory(strategy));
  if (outcome.kind !== "swap") throw new Error(`no order: ${outcome.reason}`);
  const amount = outcome.swaps[0]?.amount;
  if (amount?.kind !== "fixed") throw new Error("a dca order is a fixed amount");
  return { raw: amount.raw, detail: outcome.detail };
}

describe("the multiplier", () => {
  it.each([
    ["2000", 100],
    ["1800.01", 100],
    ["1800", 150],
    ["1500.01", 150],
    ["1500", 200],
    ["1", 200],
    ["2500", 100],
  ])("DCA-15 at %s dollars, under a high of 2000, sells %s", (price, expected) => {
    expect(sample(strategyWith(), { price, bars: bars(HOURS) }).raw).toBe(of(USDC, expected));
  });

  it("DCA-15 compares with the mean of the hours' last prices when it is told to", () => {
    const strategy = strategyWith({ reference: { kind: "sma", seconds: HOURS * 3_600 } });
    const history = [...bars(HOURS - 1, 9_000, 1_000), bar(0, { high: 9_000, close: 1_100 })];
    // The mean is 1010 dollars, a tenth under it 909.
    expect(sample(strategy, { price: "909.01", bars: history }).raw).toBe(of(USDC, 100));
    expect(sample(strategy, { price: "909", bars: history }).raw).toBe(of(USDC, 150));
  });

  it("DCA-15 is cut off by max_multiplier, and bound by the budget", () => {
    expect(sample(strategyWith({ maxMultiplier: toPpm(1_200_000) }), { price: "1", bars: bars(HOURS) }).raw).toBe(
      of(USDC, 120),
    );
    expect(sample(strategyWith({}, of(USDC, 130)), { price: "1", bars: bars(HOURS) }).raw).toBe(of(USDC, 130));
  });

  it("DCA-15 adds what is free to the slot's own amount, and never buys less than it", () => {
    const at = (free: bigint) => sample(strategyWith(), { price: "1500", bars: bars(HOURS), free });
    expect(at(of(USDC, 130))).toEqual({
      raw: of(USDC, 130),
      detail: "sells 130 USDC: WETH is 25% under its high of 10 hours: 2x; cut to what is free",
    });
    expect(at(of(USDC, 100)).raw).toBe(of(USDC, 100));
    expect(() => at(of(USDC, 100) - 1n)).toThrow("no order: insufficient_balance");
  });

  it("DCA-15 says in the run's record how far the price had fallen", () => {
    expect(sample(strategyWith(), { price: "1500", bars: bars(HOURS) }).detail).toBe(
      "sells 200 USDC: WETH is 25% under its high of 10 hours: 2x",
    );
  });
});

describe("too little history", () => {
  it("DCA-16 multiplies nothing when fewer than four fifths of the hours are known, and says so", () => {
    expect(sample(strategyWith(), { price: "1", bars: bars(8) }).raw).toBe(of(USDC, 200));
    expect(sample(strategyWith(), { price: "1", bars: bars(7) })).toEqual({
      raw: of(USDC, 100),
      detail: "sells 100 USDC: only 7 of 10 hours are known: not multiplied",
    });
    expect(sample(strategyWith(), { price: "1", bars: [] }).raw).toBe(of(USDC, 100));
  });

  it("DCA-16 counts only hours that the look-back reaches, and none that is still to come", () => {
    const old = Array.from({ length: 20 }, (_, index) => bar(HOURS + 1 + index, { high: 2_000, close: 2_000 }));
    expect(sample(strategyWith(), { price: "1", bars: [...old, ...bars(7)] }).raw).toBe(of(USDC, 100));
    const ahead = [1, 2, 3].map((hours) => bar(-hours, { high: 2_000, close: 2_000 }));
    expect(sample(strategyWith(), { price: "1", bars: [...bars(7), ...ahead] }).raw).toBe(of(USDC, 100));
    // A high that lies further back than that is no reference.
    expect(
      sample(strategyWith(), { price: "1900", bars: [bar(HOURS + 1, { high: 9_000, close: 1 }), ...bars(HOURS)] }).raw,
    ).toBe(of(USDC, 100));
  });

  it("DCA-16 multiplies nothing without a price of now", () => {
    expect(sample(strategyWith(), { bars: bars(HOURS) }).raw).toBe(of(USDC, 100));
  });
});

it("DCA-15 asks for the history of its token, as far as it looks back", () => {
  const strategy = strategyWith();
  const { tokens, bars: wanted } = strategyNeeds(strategy, initialStrategyMemory(strategy));
  expect(wanted).toEqual([{ token: WETH, seconds: HOURS * 3_600 }]);
  expect(tokens).toEqual([USDC, WETH]);
});

it("DCA-15 a deeper fall reaches at least the tiers of a smaller one, in whatever order they stand", () => {
  const tiers = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(tiers, fc.integer({ min: 1, max: 2_000 }), (drops, price) => {
      const strategy = strategyWith({ tiers: drops.map((drop) => tier(drop, drop)) });
      const { raw } = sample(strategy, { price: String(price), bars: bars(HOURS) });
      const fallen = ((2_000 - price) * 100) / 2_000;
      const deepest = Math.max(1, ...drops.filter((drop) => drop <= fallen));
      expect(raw).toBe(of(USDC, 100 * deepest));
    }),
  );
});
