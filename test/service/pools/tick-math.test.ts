import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextTick, ticksIn, wordOf } from "../../../src/service/pools/uniswap-v3/tick-bitmap.ts";
import {
  MAX_SQRT_RATIO,
  MAX_TICK,
  MIN_SQRT_RATIO,
  MIN_TICK,
  sqrtRatioAtTick,
  tickAtSqrtRatio,
} from "../../../src/service/pools/uniswap-v3/tick-math.ts";

describe("prices of ticks", () => {
  test("meet the published extremes of the pools", () => {
    expect(sqrtRatioAtTick(MIN_TICK)).toBe(MIN_SQRT_RATIO);
    expect(sqrtRatioAtTick(MAX_TICK)).toBe(MAX_SQRT_RATIO);
    expect(sqrtRatioAtTick(0)).toBe(1n << 96n);
    expect(() => sqrtRatioAtTick(MAX_TICK + 1)).toThrow(RangeError);
    expect(() => tickAtSqrtRatio(MAX_SQRT_RATIO)).toThrow(RangeError);
  });

  test("rise with the tick, and a price between two ticks belongs to the lower one", () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 }), (tick) => {
        const low = sqrtRatioAtTick(tick);
        const high = sqrtRatioAtTick(tick + 1);
        expect(low).toBeLessThan(high);
        expect(tickAtSqrtRatio(low)).toBe(tick);
        expect(tickAtSqrtRatio(high - 1n)).toBe(tick);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the next tick of a bitmap", () => {
  const spacing = fc.constantFrom(1, 10, 60, 200);

  test("is the nearest set bit in its direction, or the word's edge, as a naive search finds it", () => {
    fc.assert(
      fc.property(
        spacing,
        fc.integer({ min: -3_000, max: 3_000 }),
        fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
        fc.boolean(),
        (step, offset, noise, down) => {
          const tick = offset * (step === 1 ? 1 : 7);
          const position = wordOf(tick, step, down);
          const word = noise & (noise << 3n) & ((1n << 256n) - 1n);
          const found = nextTick(
            { words: new Map([[position, word]]), nets: new Map() },
            { tick, spacing: step, down },
          );
          const set = ticksIn(position, word, step);
          const beyond = set.filter((one) => (down ? one <= tick : one > tick));
          const nearest = down ? beyond.at(-1) : beyond[0];
          const edge = (position * 256 + (down ? 0 : 255)) * step;
          expect(found).toEqual({ kind: "tick", tick: nearest ?? edge, initialized: nearest !== undefined });
        },
      ),
      { numRuns: 500 },
    );
  });

  test("is unknown where the word was not read, which is not the same as empty", () => {
    expect(nextTick({ words: new Map(), nets: new Map() }, { tick: -1, spacing: 1, down: true })).toEqual({
      kind: "unread",
      word: -1,
    });
  });
});
