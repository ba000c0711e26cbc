import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  type StrategyMemory,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import type { ThresholdSpec } from "../../../src/domain/strategy/threshold.ts";
import { common, of, USDC, view, WETH } from "./world.ts";

const DAY = 86_400;

function spec(changes: Partial<ThresholdSpec> = {}): ThresholdSpec {
  return {
    ...common,
    kind: "threshold",
    sell: { token: WETH, amount: { share: toPpm(250_000) } },
    buy: USDC,
    watch: WETH,
    when: { crosses: "above", price: { quote: USDC, raw: of(USDC, 4_500) } },
    ifAlreadyTrue: "wait",
    rearm: undefined,
    ...changes,
  };
}

const rearmed = spec({ rearm: { price: { quote: USDC, raw: of(USDC, 4_200) }, cooldownSeconds: 3 * DAY } });

/** A strategy with its memory, one price after the other. */
function trigger(strategy: ThresholdSpec, free = of(WETH, 8)) {
  let memory: StrategyMemory = initialStrategyMemory(strategy);
  let nowMs = 1_700_000_000_000;
  return {
    see(dollars: string, waitSeconds = 30) {
      nowMs += waitSeconds * 1_000;
      const seen = view({
        nowMs,
        free: [[WETH, free]],
        prices: [
          [WETH, dollars],
          [USDC, "1"],
        ],
      });
      const decision = decideStrategy(strategy, seen, memory);
      memory = JSON.parse(JSON.stringify(decision.memory));
      return decision.outcome.kind === "swap" ? decision.outcome.swaps : decision.outcome.reason;
    },
    end(filled: boolean) {
      const after = strategyRunEnded(strategy, memory, { slotMs: nowMs, filled, nowMs, swaps: [] });
      memory = JSON.parse(JSON.stringify(after.memory));
    },
    memory: () => memory,
  };
}

const quarter = [{ sell: WETH, buy: USDC, amount: { kind: "fixed", raw: of(WETH, 2) } }];

describe("a crossing", () => {
  it("fires when the price comes from the other side and reaches the level", () => {
    const strategy = trigger(spec());
    expect(strategy.see("4499.999999")).toBe("not_triggered");
    expect(strategy.see("4500")).toEqual(quarter);
  });

  it("does not fire because the daemon starts while the condition is already true", () => {
    const strategy = trigger(spec());
    expect(strategy.see("4600")).toBe("not_armed");
    expect(strategy.see("4700")).toBe("not_armed");
    expect(strategy.see("4499")).toBe("not_triggered");
    expect(strategy.see("4500")).toEqual(quarter);
  });

  it("fires at once when it was told to", () => {
    expect(trigger(spec({ ifAlreadyTrue: "fire" })).see("4600")).toEqual(quarter);
  });

  it("from above works the same", () => {
    const strategy = trigger(spec({ when: { crosses: "below", price: { quote: USDC, raw: of(USDC, 2_400) } } }));
    expect(strategy.see("2401")).toBe("not_triggered");
    expect(strategy.see("2400")).toEqual(quarter);
  });

  it("is measured in the quote token, not in dollars", () => {
    const strategy = spec();
    const memory = { version: 1, state: "armed", failures: 0 };
    const seen = view({
      free: [[WETH, of(WETH, 8)]],
      prices: [
        [WETH, "4480"],
        [USDC, "0.99"],
      ],
    });
    expect(decideStrategy(strategy, seen, memory).outcome.kind).toBe("swap");
  });

  it("is not decided without a price of both tokens", () => {
    const memory = { version: 1, state: "armed", failures: 0 };
    for (const prices of [
      [[WETH, "5000"]],
      [[USDC, "1"]],
      [
        [WETH, "0"],
        [USDC, "1"],
      ],
    ] as const) {
      const seen = view({ free: [[WETH, of(WETH, 8)]], prices });
      const decision = decideStrategy(spec(), seen, memory);
      expect(decision).toMatchObject({ memory, outcome: { reason: "unpriceable" } });
    }
  });

  it("does not fire, and stays armed, when there is nothing to sell", () => {
    const empty = trigger(spec(), 0n);
    empty.see("4000");
    expect(empty.see("4600")).toBe("insufficient_balance");
    expect(empty.memory()).toMatchObject({ state: "armed" });
    const fixed = trigger(spec({ sell: { token: WETH, amount: { raw: of(WETH, 9) } } }));
    fixed.see("4000");
    expect(fixed.see("4600")).toBe("insufficient_balance");
  });
});

describe("after it fired", () => {
  it("nothing fires until the run has ended, whatever the price does", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    for (const dollars of ["4600", "4000", "4600"]) expect(strategy.see(dollars, 30 * DAY)).toBe("already_fired");
  });

  it("it is done for ever without a rearm rule", () => {
    const strategy = trigger(spec());
    strategy.see("4000");
    strategy.see("4600");
    strategy.end(true);
    expect(strategy.see("4000")).toBe("already_fired");
    expect(strategy.see("4600")).toBe("already_fired");
  });

  it("it needs the cooldown and the far side, both, before it is armed again", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end(true);
    expect(strategy.see("4100", DAY)).toBe("cooling_down");
    expect(strategy.see("4300", 2 * DAY)).toBe("not_armed");
    expect(strategy.see("4600")).toBe("not_armed");
    expect(strategy.see("4200")).toBe("not_triggered");
    expect(strategy.see("4500")).toEqual(quarter);
  });

  it("a run that bought nothing gives the crossing back, three attempts at most, then it must cross again", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(strategy.see("4600")).toEqual(quarter);
      strategy.end(false);
    }
    expect(strategy.see("4600")).toBe("not_armed");
    expect(strategy.see("4400")).toBe("not_triggered");
    expect(strategy.see("4600")).toEqual(quarter);
  });

  it("attempts of an earlier crossing do not count against a later one", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end(false);
    strategy.see("4000");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(strategy.see("4600")).toEqual(quarter);
      strategy.end(false);
    }
    expect(strategy.see("4600")).toBe("not_armed");
  });

  it("a second report of the same run's end changes nothing", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end(true);
    const memory = strategy.memory();
    strategy.end(false);
    expect(strategy.memory()).toEqual(memory);
  });
});

it("never sells twice in one excursion, whatever the path of the price", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 3_900, max: 4_800 }), fc.integer({ min: 30, max: 4 * DAY }), fc.boolean()), {
        maxLength: 80,
      }),
      (path) => {
        const strategy = trigger(rearmed);
        let sold = false;
        let seenFarSide = true;
        for (const [dollars, waitSeconds, filled] of path) {
          const outcome = strategy.see(String(dollars), waitSeconds);
          if (dollars <= 4_200) seenFarSide = true;
          if (typeof outcome === "string") continue;
          expect(dollars).toBeGreaterThanOrEqual(4_500);
          if (sold) expect(seenFarSide).toBe(true);
          strategy.end(filled);
          if (filled) {
            sold = true;
            seenFarSide = false;
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

it.each([
  undefined,
  {},
  { version: 1 },
  { version: 2, state: "baseline" },
  { version: 1, state: "armed" },
  { version: 1, state: "armed", failures: -1 },
  { version: 1, state: "fired", failures: 0 },
  { version: 1, state: "cooling", untilMs: "soon" },
  { version: 1, state: "elsewhere" },
])("refuses a damaged memory %j instead of arming itself anew", (memory) => {
  expect(() => decideStrategy(spec(), view({}), memory)).toThrow(/none of a threshold strategy/);
});
