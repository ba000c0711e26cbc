import { describe, expect, it } from "vitest";
import { parseUsd, type UsdPrice } from "../../../src/domain/money/price.ts";
import { decideStrategy, initialStrategyMemory, strategyRunEnded } from "../../../src/domain/strategy/strategy.ts";
import type { SweepSpec } from "../../../src/domain/strategy/sweep.ts";
import { HOUR, legsIn, mixSpec, percent, RebalanceLife, RULES, START_MS, target } from "./rebalance-world.ts";
import { cross, DAY, leg, quarter, spec, trigger } from "./threshold-world.ts";
import { common, DAI, of, USDC, view, WBTC, WETH } from "./world.ts";

/** So far ahead is the clock for a moment, in seconds. */
const AHEAD = 30 * DAY;

describe("a stop that fires again and again", () => {
  const rearm = { price: undefined, cooldownSeconds: 600, times: undefined };
  const stop = leg({ trigger: cross("below", 2_400), rearm });

  function firedByWrongClock() {
    const strategy = trigger(spec([stop]));
    strategy.see(2_500);
    strategy.see(2_400);
    strategy.end("filled", AHEAD);
    expect(strategy.see(2_500, 60 - AHEAD)).toBe("cooling_down");
    return strategy;
  }

  it("THR-7 rests no longer than its cooldown where its run ended while the clock ran ahead", () => {
    const strategy = firedByWrongClock();
    expect(strategy.see(2_500, 599)).toBe("cooling_down");
    expect(strategy.see(2_500, 1)).toBe("not_triggered");
    expect(strategy.see(2_400)).toBeInstanceOf(Array);
  });

  it("THR-7 rests as long as its cooldown from when the clock is right", () => {
    const strategy = firedByWrongClock();
    for (let samples = 0; samples < 19; samples += 1) expect(strategy.see(2_500)).toBe("cooling_down");
    expect(strategy.see(2_500)).toBe("not_triggered");
  });

  it("THR-8 nor does a level that was given back", () => {
    const level = leg({ trigger: { ...cross("below", 2_400), kind: "level" } as never, rearm });
    const strategy = trigger(spec([level]));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      strategy.see(2_300, 60);
      strategy.end("reverted", attempt === 2 ? AHEAD : 0);
    }
    expect(strategy.see(2_300, -AHEAD)).toBe("cooling_down");
    expect(strategy.see(2_300, 600)).toEqual(quarter);
  });
});

describe("a mix", () => {
  const halves = [target(WETH, 50), target(USDC, 50)];

  it("REB-18 cools down for no longer than its cooldown where its run ended while the clock ran ahead", () => {
    const bands = { ...RULES, soft: { forSeconds: 0, cooldownSeconds: 7_200 } };
    const life = new RebalanceLife(mixSpec(halves, { bands }), [[WETH, 2]]);
    life.clockAheadMs = AHEAD * 1_000;
    expect(life.slot().kind).toBe("swap");
    life.free.set(WETH, of(WETH, 2));
    for (const hour of [0, 1]) expect([hour, legsIn(life.pass(HOUR).decide())]).toEqual([hour, ["cooling_down"]]);
    expect(life.pass(HOUR).decide().kind).toBe("swap");
  });

  it("REB-19 counts what was moved by a clock that ran ahead for a day, and forgets nothing by it", () => {
    const maxTurnover = { perDay: percent(30), perRun: percent(15) };
    const mix = mixSpec([target(WETH, 50), target(WBTC, 50)], { trades: { maxTurnover } });
    const life = new RebalanceLife(mix, [[WETH, 2]]);
    expect(legsIn(life.slot())).toEqual(["0.3 WETH -> WBTC"]);
    life.clockAheadMs = AHEAD * 1_000;
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["0.3 WETH -> WBTC"]);
    life.clockAheadMs = 0;
    expect(legsIn(life.pass(HOUR).decide())).toEqual(["turnover_spent"]);
    for (let hour = 0; hour < 22; hour += 1) expect(legsIn(life.pass(HOUR).decide())).toEqual(["turnover_spent"]);
    expect(legsIn(life.pass(3 * HOUR).decide())).toEqual(["0.3 WETH -> WBTC"]);
  });
});

describe("a sweep", () => {
  const sweep: SweepSpec = {
    ...{ ...common, kind: "sweep", from: [{ token: DAI, keep: 0n, above: { raw: 0n } }], to: USDC, refill: undefined },
    ...{ lot: { min: usd("100"), max: usd("500") }, maxPerDay: usd("1000"), cooldownSeconds: 600, exit: false },
  };

  it("SWP-4 rests no longer than its cooldown where its run ended while the clock ran ahead", () => {
    const memory = swept(initialStrategyMemory(sweep), { hours: 0, endsAhead: true });
    const first = decideAt(0.01, memory);
    expect(first.outcome).toMatchObject({ reason: "cooling_down" });
    expect(decideAt(0.1, first.memory).outcome).toMatchObject({ reason: "cooling_down" });
    expect(decideAt(0.18, first.memory).outcome.kind).toBe("swap");
  });

  it("SWP-5 counts what was sold by a clock that ran ahead for a day, and forgets nothing by it", () => {
    const once = swept(initialStrategyMemory(sweep), { hours: 0 });
    const twice = swept(once, { hours: AHEAD / 3_600 });
    const rested = decideAt(2, twice);
    const spent = decideAt(3, rested.memory);
    expect(spent.outcome).toMatchObject({ reason: "turnover_spent" });
    expect(decideAt(23, spent.memory).outcome).toMatchObject({ reason: "turnover_spent" });
    expect(decideAt(28, spent.memory).outcome.kind).toBe("swap");
  });

  function decideAt(hours: number, memory: unknown) {
    const prices = [
      [DAI, "1"],
      [USDC, "1"],
    ] as const;
    const seen = view({ nowMs: START_MS + hours * HOUR, free: [[DAI, of(DAI, 5_000)]], prices });
    return decideStrategy(sweep, seen, JSON.parse(JSON.stringify(memory)));
  }

  function swept(before: unknown, at: { hours: number; endsAhead?: true }): unknown {
    const { outcome, memory } = decideAt(at.hours, before);
    if (outcome.kind !== "swap") throw new Error(`nothing was swept: ${outcome.detail}`);
    const swaps = outcome.swaps.map(({ sell, buy, amount }, position) => {
      const sold = amount.kind === "fixed" ? amount.raw : 0n;
      return { position, sell, buy, sold, bought: sold, reason: undefined };
    });
    const slotMs = START_MS + at.hours * HOUR;
    const nowMs = slotMs + (at.endsAhead === true ? AHEAD * 1_000 : 0);
    return strategyRunEnded(sweep, memory, { slotMs, nowMs, filled: true, swaps }).memory;
  }
});

function usd(text: string): UsdPrice {
  const parsed = parseUsd(text);
  if (parsed === undefined) throw new Error(`no dollars: ${text}`);
  return parsed;
}
