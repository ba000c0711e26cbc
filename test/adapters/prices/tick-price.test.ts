import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_TICK, meanLiquidity, meanTick, priceAtTick } from "../../../src/adapters/prices/tick-price.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";

describe("the price at a tick", () => {
  it("is the square of what the pools hold at that tick, to a billionth where their own rounding allows", () => {
    const property = fc.property(fc.integer({ min: -400_000, max: MAX_TICK }), (tick) => {
      const root = sqrtRatioAtTick(tick);
      const { numerator, denominator } = priceAtTick(tick);
      const [ours, theirs] = [numerator << 192n, root * root * denominator];
      const apart = ours > theirs ? ours - theirs : theirs - ours;
      return apart * 1_000_000_000n <= theirs;
    });
    fc.assert(property, { numRuns: 500, examples: [[0], [1], [-1], [MAX_TICK], [-196_256]] });
  });

  it("is the inverse of the price at the opposite tick", () => {
    const [up, down] = [priceAtTick(123_456), priceAtTick(-123_456)];
    expect([down.numerator, down.denominator]).toEqual([up.denominator, up.numerator]);
    expect(priceAtTick(-MAX_TICK).denominator).toBeGreaterThan(0n);
  });

  it("is known for ticks of a pool alone", () => {
    for (const tick of [MAX_TICK + 1, -MAX_TICK - 1, 0.5, Number.NaN]) {
      expect(() => priceAtTick(tick)).toThrow(RangeError);
    }
  });
});

describe("the means over a window", () => {
  it("round the tick towards negative infinity, as the library does", () => {
    expect(meanTick({ start: 0n, end: 1_999n }, 100)).toBe(19);
    expect(meanTick({ start: 0n, end: -1_901n }, 100)).toBe(-20);
    expect(meanTick({ start: 1_900n, end: 0n }, 100)).toBe(-19);
  });

  it("count liquidity although its accumulator ran over", () => {
    const perSecond = (1n << 128n) / 1_000_000n;
    const end = BigInt.asUintN(160, (1n << 160n) - 5n + perSecond * 600n);
    expect(meanLiquidity({ start: (1n << 160n) - 5n, end }, 600)).toBe(1_000_000n);
    expect(meanLiquidity({ start: 5n, end: 5n }, 600)).toBe(0n);
  });
});
