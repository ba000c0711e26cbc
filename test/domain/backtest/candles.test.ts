import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candle, hoursOf, priceWithin } from "../../../src/domain/backtest/candles.ts";
import { modelSwap } from "../../../src/domain/backtest/fill-model.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { convertUp, type UsdPrice } from "../../../src/domain/money/price.ts";

const usd = (value: number): UsdPrice => (BigInt(value) * 10n ** 18n) as UsdPrice;
const candle = (atMs: number, [open, high, low, close]: readonly [number, number, number, number]): Candle => ({
  ...{ atMs, open: usd(open), high: usd(high), low: usd(low), close: usd(close) },
});
const MINUTE = 60_000;
const SERIES = {
  stepMs: 3 * MINUTE,
  candles: [candle(0, [10, 16, 4, 13]), candle(3 * MINUTE, [13, 13, 13, 13]), candle(9 * MINUTE, [7, 8, 6, 7])],
};

describe("the price within a candle", () => {
  it.each([
    ["straight", [10, 11, 12]],
    ["low-first", [10, 4, 16]],
    ["high-first", [10, 16, 4]],
  ] as const)("goes %s", (path, prices) => {
    expect([0, 1, 2].map((minute) => priceWithin(SERIES, minute * MINUTE, path)?.usd)).toEqual(prices.map(usd));
    expect(priceWithin(SERIES, 3 * MINUTE - 1, path)?.usd).toBeLessThanOrEqual(usd(16));
  });

  it("is a guess inside of a candle, and none at its beginning or where it stands still", () => {
    const guess = (atMs: number) => priceWithin(SERIES, atMs, "straight")?.isInside;
    expect([0, 1, 3 * MINUTE, 4 * MINUTE].map(guess)).toEqual([false, true, false, false]);
  });

  it("is not known before the first candle, in a gap, and after the last", () => {
    for (const minute of [-1, 6, 8, 12]) expect(priceWithin(SERIES, minute * MINUTE, "straight")).toBeUndefined();
  });

  it("never leaves its candle, whatever the path", () => {
    const price = fc.integer({ min: 1, max: 1_000 });
    fc.assert(
      fc.property(
        price,
        price,
        price,
        price,
        fc.integer({ min: 0, max: 3 * MINUTE - 1 }),
        fc.constantFrom("straight", "low-first", "high-first"),
        (a, b, c, d, atMs, path) => {
          const [low, one, other, high] = [a, b, c, d].sort((x, y) => x - y);
          const series = { stepMs: 3 * MINUTE, candles: [candle(0, [one ?? 1, high ?? 1, low ?? 1, other ?? 1])] };
          const found = priceWithin(series, atMs, path as "straight");
          return found !== undefined && found.usd >= usd(low ?? 1) && found.usd <= usd(high ?? 1);
        },
      ),
    );
  });
});

describe("hours", () => {
  it("are known once their last candle has ended, with high, low and close", () => {
    const hours = hoursOf({
      stepMs: 30 * MINUTE,
      candles: [candle(0, [5, 9, 5, 6]), candle(30 * MINUTE, [6, 7, 2, 3]), candle(60 * MINUTE, [3, 3, 3, 3])],
    });
    expect(hours).toEqual([
      { hourMs: 0, high: usd(9), low: usd(2), close: usd(3), samples: 2, knownMs: 60 * MINUTE },
      { hourMs: 60 * MINUTE, high: usd(3), low: usd(3), close: usd(3), samples: 1, knownMs: 90 * MINUTE },
    ]);
  });
});

describe("the fill model", () => {
  const sell = { decimals: 6, usd: usd(1) };
  const buy = { decimals: 18, usd: usd(2_000) };
  const depthUsd = 1_000_000n * 10n ** 18n;

  it("takes the fee first and then the impact of what is left, as a constant product does", () => {
    const { amountOut, impact } = modelSwap(
      { poolFee: toPpm(3_000), depthUsd },
      { gross: 10_000_000_000n, sell, buy, carried: toPpm(0) },
    );
    // 9,970 dollars against 1,000,000: 9,970 / 2,000 x 1,000,000 / 1,009,970
    expect(Number(amountOut) / 1e18).toBeCloseTo((9_970 / 2_000) * (1_000_000 / 1_009_970), 12);
    expect(impact).toBe(9_871n);
  });

  it("moves the price by what the same swap right after brings less, as paper records it", () => {
    const model = { poolFee: toPpm(0), depthUsd };
    const terms = { sell, buy, carried: toPpm(0) };
    const once = modelSwap(model, { ...terms, gross: 50_000_000_000n });
    const twice = modelSwap(model, { ...terms, gross: 100_000_000_000n });
    const second = modelSwap(model, { ...terms, gross: 50_000_000_000n, carried: once.shift });
    // 50,000 dollars twice against 1,000,000: 2 x 50,000 / 1,100,000, rounded up
    expect(once.shift).toBe(90_910n);
    expect(Number(once.amountOut + second.amountOut) / Number(twice.amountOut)).toBeCloseTo(1, 6);
  });

  it("never brings more than the reference, and two halves never less than the whole", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n, max: 10n ** 14n }), fc.integer({ min: 0, max: 30_000 }), (gross, fee) => {
        const model = { poolFee: toPpm(fee), depthUsd };
        const out = (amount: bigint): bigint =>
          modelSwap(model, { gross: amount, sell, buy, carried: toPpm(0) }).amountOut;
        const worth = convertUp({ raw: gross, ...sell }, buy);
        return out(gross) <= worth && out(gross / 2n) + out(gross - gross / 2n) + 2n >= out(gross);
      }),
    );
  });
});
