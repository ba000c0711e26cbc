import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { PlannedSwap, Rate } from "../../../src/domain/strategy/decision.ts";
import type { LegFloor, ThresholdLeg } from "../../../src/domain/strategy/threshold-spec.ts";
import { cross, DAY, leg, spec, trigger, usdc } from "./threshold-world.ts";
import { of, USDC, WETH } from "./world.ts";

const percent = (share: number) => toPpm(share * 10_000);

/** The least USDC for one WETH, or the most, that a planned swap may be filled at. */
function floorPrice(outcome: readonly PlannedSwap[] | string): string | undefined {
  const rate: Rate | undefined = typeof outcome === "string" ? undefined : outcome[0]?.floor;
  if (rate === undefined) return undefined;
  const sellsWeth = typeof outcome !== "string" && outcome[0]?.sell.address === WETH.address;
  const { bought, sold } = sellsWeth ? rate : { bought: rate.sold, sold: rate.bought };
  expect((bought * 10n ** 18n) % sold).toBe(0n);
  return ((bought * 10n ** 18n) / sold).toString();
}

const stopWith = (floor: LegFloor, change: Partial<ThresholdLeg> = {}) =>
  trigger(spec([leg({ trigger: cross("below", 2_400), floor, ...change })]));

describe("THR-10 a floor", () => {
  it("THR-10 lies its share below a seller's trigger, wherever the price is by then", () => {
    const strategy = stopWith({ steps: [percent(3)] });
    strategy.see(3_000);
    expect(floorPrice(strategy.see(1_500))).toBe(String(of(USDC, 2_328)));
  });

  it("THR-10 lies its share above a buyer's trigger", () => {
    const entry = { sell: USDC, buy: WETH } as const;
    const strategy = trigger(spec([leg({ trigger: cross("above", 2_400), floor: { steps: [percent(3)] } })], entry));
    strategy.see(2_000);
    expect(floorPrice(strategy.see(2_400))).toBe(String(of(USDC, 2_472)));
  });

  it("THR-10 may be a price", () => {
    const strategy = stopWith({ price: usdc("2300.5") });
    strategy.see(3_000);
    expect(floorPrice(strategy.see(2_400))).toBe(String(of(USDC, "2300.5")));
  });

  it("THR-10 widens by the listed steps only, one for each attempt that found no fill, and stays at the last", () => {
    const strategy = stopWith({ steps: [percent(1), percent(5)] });
    strategy.see(3_000);
    const floors = [0, 1, 2, 3, 4].map(() => {
      const floor = floorPrice(strategy.see(2_300));
      strategy.end("PRICE_LIMIT_NOT_MET");
      return floor;
    });
    const [first, second] = [of(USDC, 2_376), of(USDC, 2_280)].map(String);
    expect(floors).toEqual([first, second, second, second, second]);
  });

  it("THR-10 takes no step for dry runs, whether a quote reached its floor in them or not", () => {
    const strategy = stopWith({ steps: [percent(1), percent(5)] });
    strategy.see(3_000);
    const [first, second] = [of(USDC, 2_376), of(USDC, 2_280)].map(String);
    for (const end of ["dry_run", "PRICE_LIMIT_NOT_MET", "dry_run", "PRICE_LIMIT_NOT_MET"] as const) {
      expect(floorPrice(strategy.see(2_300))).toBe(first);
      strategy.end(end, 0, true);
    }
    expect(strategy.alerts(), "that no quote reaches it is worth knowing before").toContain("FLOOR_NOT_MET");
    expect(floorPrice(strategy.see(2_300))).toBe(first);
    strategy.end("PRICE_LIMIT_NOT_MET");
    expect(floorPrice(strategy.see(2_300))).toBe(second);
  });

  it("THR-10 starts at its first step again with the next crossing", () => {
    const strategy = stopWith({ steps: [percent(1), percent(5)] });
    strategy.see(3_000);
    strategy.see(2_300);
    strategy.end("PRICE_LIMIT_NOT_MET");
    strategy.see(3_000);
    expect(floorPrice(strategy.see(2_300))).toBe(String(of(USDC, 2_376)));
  });

  it("THR-10 that is not met is no failed attempt: the stop rests until the price is back; other failures count", () => {
    const strategy = stopWith({ steps: [percent(3)] });
    strategy.see(3_000);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      expect(strategy.see(2_000)).toBeInstanceOf(Array);
      strategy.end("PRICE_LIMIT_NOT_MET");
    }
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(strategy.see(2_000)).toBeInstanceOf(Array);
      strategy.end("reverted");
    }
    expect(strategy.see(2_000)).toBe("not_armed");
    expect(new Set(strategy.alerts())).toEqual(new Set(["FLOOR_NOT_MET", "TRIGGER_GIVEN_BACK"]));
  });
});

describe("THR-11 a limit", () => {
  const limit = leg({ trigger: { kind: "limit", side: "above", price: usdc(4_500) }, floor: { price: usdc(4_500) } });

  it("THR-11 needs no crossing, and asks for its price net of all fees", () => {
    expect(floorPrice(trigger(spec([limit])).see(4_600))).toBe(String(of(USDC, 4_500)));
    expect(trigger(spec([limit])).see(4_499)).toBe("not_triggered");
  });

  it("THR-11 stays in the market through 20 runs that signed nothing, and also one that an older release disarmed", () => {
    const strategy = trigger(spec([limit]));
    for (let attempt = 0; attempt < 20; attempt += 1) {
      expect(strategy.see(4_500 + attempt, 60)).toBeInstanceOf(Array);
      strategy.end("nothing");
    }
    expect(strategy.at()).toBe("armed");
    const memory = { version: 2, legs: { main: { at: { state: "waiting" }, fills: 0 } }, sold: "0" };
    expect(trigger(spec([limit]), { memory }).see(4_600)).toBeInstanceOf(Array);
  });

  it("THR-11 whose signed swaps came to nothing too often must see the price on the other side", () => {
    const strategy = trigger(spec([limit]));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(strategy.see(4_500, 60)).toBeInstanceOf(Array);
      strategy.end("reverted");
    }
    expect(strategy.see(4_500, 60)).toBe("not_armed");
    expect(strategy.see(4_400)).toBe("not_triggered");
    expect(strategy.see(4_500)).toBeInstanceOf(Array);
  });

  it("THR-11 that lost its race is tried again, also when the price comes back days later", () => {
    const strategy = trigger(spec([limit]));
    strategy.see(4_500);
    strategy.end("PRICE_LIMIT_NOT_MET");
    expect(strategy.see(4_400)).toBe("not_triggered");
    expect(strategy.see(4_500, 9 * DAY)).toBeInstanceOf(Array);
    strategy.end();
    expect(strategy.at()).toBe("done");
    expect(strategy.alerts()).toEqual([]);
  });
});

describe("THR-12 a trailing stop", () => {
  const trailing = (change: Partial<ThresholdLeg> = {}, activateAt = usdc(4_000)) =>
    leg({
      trigger: { kind: "trail", share: percent(10), activateAt },
      floor: { steps: [percent(3)] },
      ...change,
    });
  const active = (change: Partial<ThresholdLeg> = {}) => {
    const strategy = trigger(spec([trailing(change)]));
    strategy.see(4_000);
    expect(strategy.see(4_000)).toBe("not_triggered");
    return strategy;
  };
  const trailOf = (strategy: ReturnType<typeof trigger>) => {
    const { mark = "0", stop = "0" } = strategy.memory().legs.main?.trail ?? {};
    return { mark: BigInt(mark), stop: BigInt(stop) };
  };

  it("THR-12 is not there before its activation price is confirmed", () => {
    const strategy = trigger(spec([trailing()]));
    for (const price of [3_900, 3_000, 4_000, 3_999, 4_000]) expect(strategy.see(price)).toBe("not_activated");
    expect(strategy.see(4_100)).toBe("not_triggered");
    expect(trailOf(strategy)).toEqual({ mark: usdc(4_000), stop: usdc(3_600) });
  });

  it("THR-12 raises its high-water mark by what was seen while the clock ran hours ahead, once that held by the right one", () => {
    const confirm = { forSeconds: 60, samples: 2 };
    const strategy = trigger(spec([trailing({ confirm })]));
    strategy.see(4_100, 6 * 3_600);
    for (const waitSeconds of [30 - 6 * 3_600, 30, 30]) strategy.see(4_100, waitSeconds);
    expect(trailOf(strategy)).toEqual({ mark: usdc(4_100), stop: usdc(3_690) });
  });

  it("THR-12 without activation price trails from the first confirmed price", () => {
    const strategy = trigger(spec([leg({ trigger: { kind: "trail", share: percent(10), activateAt: undefined } })]));
    expect(strategy.see(3_000)).toBe("not_activated");
    expect(strategy.see(3_100)).toBe("not_triggered");
    expect(trailOf(strategy).mark).toBe(usdc(3_000));
  });

  it("THR-12 follows the price up and fires at its share below the highest one, with its floor below that", () => {
    const strategy = active();
    for (const price of [4_500, 5_000, 5_000]) expect(strategy.see(price)).toBe("not_triggered");
    expect(trailOf(strategy).stop).toBe(usdc(4_500));
    expect(strategy.see(4_501)).toBe("not_triggered");
    expect(floorPrice(strategy.see(4_500))).toBe(String(of(USDC, 4_365)));
  });

  it("THR-12 does not let a single odd price drag the stop behind it", () => {
    const strategy = active();
    for (const price of [9_000, 4_000, 9_000, 4_000]) expect(strategy.see(price)).toBe("not_triggered");
    expect(trailOf(strategy)).toEqual({ mark: usdc(4_000), stop: usdc(3_600) });
  });

  it("THR-12 raises the high-water mark to what held for the confirmation, and fires after the same", () => {
    const strategy = trigger(spec([trailing({ confirm: { forSeconds: 60, samples: 3 } })]));
    for (const price of [4_200, 4_100, 4_300]) strategy.see(price);
    expect(trailOf(strategy).mark).toBe(usdc(4_100));
    for (const _sample of [1, 2]) expect(strategy.see(3_000)).toBe("confirming");
    expect(strategy.see(3_000)).toBeInstanceOf(Array);
  });

  it("THR-12 starts a rise again after a gap, and keeps mark and stop over it", () => {
    const strategy = active();
    strategy.see(5_000);
    strategy.see(5_000, DAY);
    expect(trailOf(strategy).mark).toBe(usdc(4_000));
    expect(strategy.see(3_600, DAY)).toBeInstanceOf(Array);
  });

  it("THR-12 that is edited closer takes over at a price above it; further away, it stays where it is", () => {
    const share = (percents: number) =>
      spec([trailing({ trigger: { kind: "trail", share: percent(percents), activateAt: usdc(4_000) } })]);
    const strategy = active();
    strategy.edit(share(50));
    strategy.see(3_900);
    expect(trailOf(strategy).stop).toBe(usdc(3_600));
    strategy.edit(share(5));
    expect(strategy.see(3_700)).toBe("not_triggered");
    expect(trailOf(strategy).stop).toBe(usdc(3_600));
    expect(strategy.see(3_900)).toBe("not_triggered");
    expect(trailOf(strategy).stop).toBe(usdc(3_800));
    expect(strategy.see(3_800)).toBeInstanceOf(Array);
  });
});
