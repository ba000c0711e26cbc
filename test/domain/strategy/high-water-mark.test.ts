import fc from "fast-check";
import { expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { highestHeld, risesAfter } from "../../../src/domain/strategy/high-water-mark.ts";
import type { PairPrice } from "../../../src/domain/strategy/pair-price.ts";
import type { Rise } from "../../../src/domain/strategy/threshold-memory.ts";
import { leg, spec, trigger, usdc } from "./threshold-world.ts";

interface PriceSample {
  readonly price: number;
  readonly atMs: number;
}

interface Rule {
  readonly forSeconds: number;
  readonly samples: number;
}

/** THR-12 read literally: of all runs of checks that held long enough, the highest of their lowest prices. */
function literalMark(samples: readonly PriceSample[], rule: Rule, maxGapSeconds: number): number {
  let best = 0;
  for (let first = 0; first < samples.length; first += 1) {
    let lowest = Number.POSITIVE_INFINITY;
    for (let last = first; last < samples.length; last += 1) {
      const [from, before, now] = [samples[first], samples[last - 1], samples[last]] as [
        PriceSample,
        PriceSample,
        PriceSample,
      ];
      if (last > first && now.atMs - before.atMs > maxGapSeconds * 1_000) break;
      lowest = Math.min(lowest, now.price);
      const isHeld = last - first + 1 >= Math.max(rule.samples, 2) && now.atMs - from.atMs >= rule.forSeconds * 1_000;
      if (isHeld) best = Math.max(best, lowest);
    }
  }
  return best;
}

const step = fc.record({
  price: fc.oneof(fc.integer({ min: 3_900, max: 4_300 }), fc.integer({ min: 3_000, max: 6_000 })),
  waitSeconds: fc.constantFrom(10, 30, 30, 30, 60, 89, 90, 91, 600),
});
const path = fc.array(step, { maxLength: 40, size: "max" });
const rule = fc.record({ forSeconds: fc.constantFrom(0, 30, 60, 150), samples: fc.integer({ min: 1, max: 5 }) });

it("THR-12 the high-water mark is the highest price that held in any looks in a row, and the stop hangs from it at once", () => {
  fc.assert(
    fc.property(path, rule, fc.option(fc.integer({ min: 3_000, max: 4_500 })), (steps, confirm, activateAt) => {
      const share = toPpm(900_000);
      const at = activateAt === null ? undefined : usdc(activateAt);
      const strategy = trigger(spec([leg({ confirm, trigger: { kind: "trail", share, activateAt: at } })]));
      const samples: PriceSample[] = [];
      for (const { price, waitSeconds } of steps) {
        strategy.see(price, waitSeconds);
        samples.push({ price, atMs: strategy.nowMs() });
        const literal = literalMark(samples, confirm, 90);
        const mark = literal > 0 && literal >= (activateAt ?? 0) ? usdc(literal) : undefined;
        const trail = strategy.memory().legs.main?.trail;
        expect(trail?.mark).toBe(mark?.toString());
        expect(trail?.stop).toBe(mark === undefined ? undefined : (mark / 10n).toString());
      }
    }),
    { numRuns: 600 },
  );
});

it("THR-12 a price that held in the middle of a longer rise raises the stop at that very look", () => {
  const confirm = { forSeconds: 60, samples: 3 };
  const strategy = trigger(
    spec([leg({ confirm, trigger: { kind: "trail", share: toPpm(100_000), activateAt: undefined } })]),
  );
  for (const price of [4_000, 4_100, 4_200, 4_300, 4_400]) strategy.see(price);
  expect(strategy.memory().legs.main?.trail?.mark).toBe(String(usdc(4_200)));
});

it("THR-12 what an older release remembered of a rise is gone on with", () => {
  const rise = { price: String(usdc(4_000)), sinceMs: 1_700_000_000_000 - 50_000, samples: 2 };
  const memory = {
    version: 2,
    seenMs: 1_700_000_000_000,
    legs: { main: { at: { state: "baseline" }, fills: 0, rise } },
    sold: "0",
  };
  const confirm = { forSeconds: 60, samples: 3 };
  const trail = { kind: "trail", share: toPpm(100_000), activateAt: undefined } as const;
  const strategy = trigger(spec([leg({ confirm, trigger: trail })]), { memory });
  expect(strategy.see(4_100)).toBe("not_triggered");
  expect(strategy.memory().legs.main?.trail?.mark).toBe(String(usdc(4_000)));
});

it("what is remembered of a rise that never holds is bounded, and its lowest and highest prices stay", () => {
  let rises: readonly Rise[] = [];
  for (let sample = 0; sample < 2_000; sample += 1) {
    rises = risesAfter(
      rises,
      { nowMs: sample, price: BigInt(1_000 + sample * (sample % 7)) as PairPrice, isBlind: false },
      undefined,
    );
    rises = risesAfter(
      rises,
      { nowMs: sample, price: BigInt(1_000_000 + sample) as PairPrice, isBlind: false },
      undefined,
    );
  }
  expect(rises.length).toBeLessThanOrEqual(256);
  expect(highestHeld(rises, { forSeconds: 0, samples: 1 }, 2_000)).toBe(1_001_999n);
  const sorted = rises.map(({ price }) => Number(price));
  expect(sorted).toEqual(sorted.toSorted((one, other) => one - other));
});
