import fc from "fast-check";
import { expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { decideStrategy, initialStrategyMemory, strategyRunEnded } from "../../../src/domain/strategy/strategy.ts";
import type { ThresholdLeg, ThresholdSpec } from "../../../src/domain/strategy/threshold-spec.ts";
import { cross, DAY, type End, leg, spec, trigger, usdc } from "./threshold-world.ts";
import { of, USDC, view, WETH } from "./world.ts";

interface Step {
  readonly price: number;
  readonly waitSeconds: number;
  readonly end: End;
  /** how long the run takes that this check may start */
  readonly runSeconds: number;
}

/** Paths that wander around the levels of the tests, with gaps of all lengths and runs of all ends. */
const step: fc.Arbitrary<Step> = fc.record({
  price: fc.oneof(
    fc.integer({ min: 3_900, max: 4_800 }),
    fc.constantFrom(2_000, 4_199, 4_200, 4_201, 4_499, 4_500, 6_000),
  ),
  waitSeconds: fc.constantFrom(1, 30, 90, 91, 3_600, DAY, 4 * DAY),
  end: fc.constantFrom<End>("filled", "nothing", "PRICE_LIMIT_NOT_MET"),
  runSeconds: fc.constantFrom(0, 20, 600),
});
const path = fc.array(step, { maxLength: 60, size: "max" });

const confirm = fc.record({ forSeconds: fc.constantFrom(0, 45), samples: fc.integer({ min: 1, max: 3 }) });
const habits = fc.record({
  confirm,
  onMissed: fc.constantFrom("fire-if-still-true" as const, "ignore" as const),
  ifAlreadyTrue: fc.constantFrom("wait" as const, "fire" as const),
});

it("THR-7 never trades twice in one excursion, whatever the path of the price, its gaps and the ends of its runs", () => {
  fc.assert(
    fc.property(path, habits, (steps, change) => {
      const rearm = { price: usdc(4_200), cooldownSeconds: 3 * DAY, times: undefined };
      const strategy = trigger(spec([leg({ ...change, rearm })]));
      let sawFarSide = true;
      let tradedMs = Number.NEGATIVE_INFINITY;
      for (const { price, waitSeconds, end, runSeconds } of steps) {
        const outcome = strategy.see(price, waitSeconds);
        if (price <= 4_200 && strategy.nowMs() >= tradedMs + 3 * DAY * 1_000) sawFarSide = true;
        if (typeof outcome === "string") continue;
        expect(price).toBeGreaterThanOrEqual(4_500);
        expect(sawFarSide).toBe(true);
        strategy.end(end, runSeconds);
        if (end !== "filled") continue;
        sawFarSide = false;
        tradedMs = strategy.nowMs();
      }
    }),
    { numRuns: 400 },
  );
});

it("THR-12 never lowers mark or stop, and raises the high-water mark to nothing that was not seen twice in a row", () => {
  const shares = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(path, habits, shares, (steps, change, percents) => {
      const strategyOf = (percent: number | undefined): ThresholdSpec => {
        const share = toPpm((percent ?? 1) * 10_000);
        const floor = { steps: [toPpm(30_000)] };
        return spec([leg({ ...change, floor, trigger: { kind: "trail", share, activateAt: usdc(4_000) } })]);
      };
      const strategy = trigger(strategyOf(percents[0]));
      let [mark, stop, before] = [0n, 0n, 0];
      let best = 0;
      for (const [index, { price, waitSeconds, end, runSeconds }] of steps.entries()) {
        if (index % 7 === 6) strategy.edit(strategyOf(percents[index % percents.length]));
        const outcome = strategy.see(price, waitSeconds);
        best = Math.max(best, Math.min(price, before));
        before = price;
        const trail = strategy.memory().legs.main?.trail;
        expect(BigInt(trail?.mark ?? 0)).toBeGreaterThanOrEqual(mark);
        expect(BigInt(trail?.stop ?? 0)).toBeGreaterThanOrEqual(stop);
        [mark, stop] = [BigInt(trail?.mark ?? 0), BigInt(trail?.stop ?? 0)];
        expect(mark).toBeLessThanOrEqual(usdc(best));
        if (typeof outcome === "string") continue;
        expect(usdc(price)).toBeLessThanOrEqual(stop);
        strategy.end(end, runSeconds);
      }
    }),
    { numRuns: 300 },
  );
});

const level = (id: string, price: number, ppm: number): ThresholdLeg =>
  leg({ id, role: "level", trigger: cross("above", price), amount: { share: toPpm(ppm) } });
const stop = leg({
  ...{ id: "stop", trigger: cross("below", 2_400), amount: { share: toPpm(1_000_000) } },
  floor: { steps: [toPpm(30_000)] },
});

it("THR-14 sells each level once and never more than the allocation, however much comes into the wallet meanwhile", () => {
  const shares = fc.array(fc.integer({ min: 1, max: 250_000 }), { minLength: 2, maxLength: 4 });
  const allocations = fc.option(fc.bigInt({ min: 1n, max: 10n ** 20n }), { nil: undefined });
  fc.assert(
    fc.property(
      path,
      habits,
      shares,
      allocations,
      fc.bigInt({ min: 1n, max: 10n ** 20n }),
      (steps, change, ppms, allocation, free) => {
        const levels = ppms.map((ppm, index) => ({ ...level(`l${index}`, 4_000 + index * 250, ppm), ...change }));
        const rearm = { price: usdc(4_200), cooldownSeconds: 60, times: undefined };
        const again = leg({ id: "again", ...change, amount: { raw: (allocation ?? free) / 3n + 1n }, rearm });
        const legs = [{ ...stop, ...change }, ...levels, again];
        const strategy = trigger(spec(legs, { allocation: allocation === undefined ? "free" : { raw: allocation } }), {
          free,
        });
        const fired: string[] = [];
        let sold = 0n;
        for (const { price, waitSeconds, end, runSeconds } of steps) {
          const outcome = strategy.see(price, waitSeconds);
          const latched = legs.filter(({ id }) => strategy.at(id) === "fired");
          expect(latched.length).toBe(typeof outcome === "string" ? 0 : 1);
          if (typeof outcome === "string") continue;
          sold += strategy.end(end, runSeconds);
          if (end === "filled") fired.push(...latched.map(({ id }) => id));
          if (sold > 0n) strategy.fund(10n ** 30n);
        }
        const once = fired.filter((id) => id !== "again");
        expect(new Set(once).size).toBe(once.length);
        expect(sold).toBeLessThanOrEqual(allocation ?? free);
        if (fired.includes("stop")) expect(fired.at(-1)).toBe("stop");
      },
    ),
    { numRuns: 300 },
  );
});

it("THR-17 a kill between any two steps changes nothing: a memory that was stored and read decides the same", () => {
  const rearm = { price: usdc(4_200), cooldownSeconds: DAY, times: 2 };
  const trail = { kind: "trail", share: toPpm(80_000), activateAt: usdc(4_100) } as const;
  fc.assert(
    fc.property(path, habits, (steps, change) => {
      const strategy = spec(
        [stop, { ...leg({ rearm }), ...change }, leg({ id: "trail", trigger: trail }), level("l", 4_300, 9)],
        {
          allocation: "free",
        },
      );
      const live = (restart: (memory: unknown) => unknown): unknown[] => {
        let memory: unknown = initialStrategyMemory(strategy);
        let nowMs = 1_700_000_000_000;
        return steps.map(({ price, waitSeconds, end, runSeconds }) => {
          nowMs += waitSeconds * 1_000;
          const prices = [
            [WETH, String(price)],
            [USDC, "1"],
          ] as const;
          const decision = decideStrategy(strategy, view({ nowMs, free: [[WETH, of(WETH, 8)]], prices }), memory);
          memory = restart(decision.memory);
          if (decision.outcome.kind !== "swap") return decision.outcome;
          nowMs += runSeconds * 1_000;
          const swaps = [{ position: 0, sell: WETH, buy: USDC, sold: 7n, bought: 7n, reason: end }];
          memory = restart(
            strategyRunEnded(strategy, memory, { slotMs: 0, nowMs, filled: end === "filled", swaps }).memory,
          );
          return [decision.outcome, memory];
        });
      };
      const reported = (lived: unknown[]): string =>
        JSON.stringify(lived, (_key, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
      expect(reported(live((memory) => JSON.parse(JSON.stringify(memory))))).toBe(reported(live((memory) => memory)));
    }),
    { numRuns: 200 },
  );
});
