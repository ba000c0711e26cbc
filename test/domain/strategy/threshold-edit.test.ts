import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { strategyEdited } from "../../../src/domain/strategy/strategy.ts";
import type { ThresholdLeg } from "../../../src/domain/strategy/threshold-spec.ts";
import { cross, DAY, leg, quarter, spec, trigger, usdc } from "./threshold-world.ts";
import { of, USDC, WETH } from "./world.ts";

const rearm = { price: usdc(4_200), cooldownSeconds: DAY, times: undefined };

/** Another leg, which no price of these tests reaches by chance. */
const other = leg({ id: "other", trigger: cross("below", 1_000) });

function traded() {
  const strategy = trigger(spec([leg()]));
  strategy.see(4_000);
  strategy.see(4_500);
  strategy.end();
  return strategy;
}

describe("THR-15 an edit", () => {
  it("THR-15 of the trigger sees the next price as the first one, so that it never trades by itself", () => {
    const strategy = trigger(spec([leg()]));
    strategy.see(4_400);
    strategy.edit(spec([leg({ trigger: cross("above", 4_300) })]));
    expect(strategy.see(4_400)).toBe("not_armed");
    strategy.see(4_200);
    expect(strategy.see(4_300)).toEqual(quarter);
  });

  it("THR-15 of anything else leaves the trigger as it is", () => {
    const strategy = trigger(spec([leg()]));
    strategy.see(4_400);
    strategy.edit(spec([leg({ amount: { raw: 7n } })], { maxGapSeconds: 500 }));
    expect(strategy.see(4_500)).toMatchObject([{ amount: { raw: 7n } }]);
  });

  it("THR-15 keeps the latch of a run that is open, and what is known of it goes on", () => {
    const strategy = trigger(spec([leg()]));
    strategy.see(4_400);
    strategy.see(4_500);
    strategy.edit(spec([leg({ trigger: cross("above", 4_300) })]));
    expect(strategy.see(4_500)).toBe("already_fired");
    strategy.end();
    expect(strategy.at()).toBe("done");
  });

  it("THR-15 does not bring a leg back that has fired, unless it gets a rearm rule", () => {
    const strategy = traded();
    strategy.edit(spec([leg({ trigger: cross("above", 5_000) })]));
    strategy.see(4_000);
    expect(strategy.see(5_000)).toBe("already_fired");
    strategy.edit(spec([leg({ rearm })]));
    expect(strategy.see(4_000)).toBe("cooling_down");
    expect(strategy.see(4_000, DAY)).toBe("not_triggered");
    expect(strategy.see(4_500)).toBeInstanceOf(Array);
  });

  it("THR-15 that takes the rearm rule away ends a leg that has fired", () => {
    const strategy = trigger(spec([leg({ rearm })]));
    strategy.see(4_000);
    strategy.see(4_500);
    strategy.end();
    strategy.edit(spec([leg()]));
    expect(strategy.see(4_000, 9 * DAY)).toBe("already_fired");
  });

  it("THR-15 with a new name is a new leg", () => {
    const strategy = traded();
    strategy.edit(spec([leg({ id: "again" })]));
    strategy.see(4_000);
    expect(strategy.see(4_500)).toBeInstanceOf(Array);
  });

  it("THR-15 brings the cancelled legs back with the one that cancelled them", () => {
    const stop = leg({ id: "stop", trigger: cross("below", 2_400) });
    const strategy = trigger(spec([stop, leg()]));
    strategy.see(4_000);
    strategy.see(4_500);
    strategy.end();
    expect(strategy.at("stop")).toBe("cancelled");
    strategy.edit(spec([stop, leg({ rearm })]));
    strategy.see(4_000);
    expect(strategy.see(2_400)).toBeInstanceOf(Array);
  });

  it("THR-15 to another pair begins anew", () => {
    const strategy = traded();
    strategy.edit(spec([leg({ trigger: cross("below", 4_000) })], { sell: USDC, buy: WETH }));
    expect(strategy.see(5_000)).toBe("not_triggered");
  });

  it("THR-15 counts what a leg that was taken out still sells of the allocation", () => {
    const level = (id: string, price: number) =>
      leg({ id, role: "level", trigger: cross("above", price), amount: { share: toPpm(500_000) } });
    const strategy = trigger(spec([level("one", 4_000), level("two", 4_500)], { allocation: "free" }));
    strategy.see(3_000);
    strategy.see(4_000);
    strategy.edit(spec([level("two", 4_500), level("three", 5_000)], { allocation: "free" }));
    strategy.end();
    expect(strategy.memory()).toMatchObject({ sold: of(WETH, 4).toString() });
    expect(strategy.at("one")).toBe("done");
    strategy.see(4_500);
    expect(strategy.end()).toBe(of(WETH, 4));
    expect(strategy.see(5_000)).toBe("budget_spent");
  });

  it("THR-15 that puts back a level which has sold does not sell it again, also where its run ended meanwhile", () => {
    const level = (id: string, price: number) =>
      leg({ id, role: "level", trigger: cross("above", price), amount: { share: toPpm(250_000) } });
    const [both, rest] = [spec([level("one", 4_000), level("two", 6_000)]), spec([level("two", 6_000)])];
    for (const endsMeanwhile of [false, true]) {
      const strategy = trigger(both);
      strategy.see(3_900);
      strategy.see(4_000);
      if (!endsMeanwhile) strategy.end();
      strategy.edit(rest);
      if (endsMeanwhile) strategy.end();
      strategy.see(3_900);
      strategy.edit(both);
      strategy.see(3_900);
      expect(strategy.see(4_000)).toBe("not_triggered");
      expect(strategy.at("one")).toBe("done");
    }
  });

  it("THR-15 that puts back a leg whose run came to nothing meanwhile finds it armed", () => {
    const strategy = trigger(spec([leg(), other]));
    strategy.see(4_400);
    strategy.see(4_500);
    strategy.edit(spec([other]));
    strategy.end("nothing");
    strategy.edit(spec([leg(), other]));
    expect(strategy.see(4_500)).toEqual(quarter);
  });

  it("THR-15 that puts back a trailing stop finds its high-water mark and its stop as they were", () => {
    const trail = { kind: "trail", share: toPpm(100_000), activateAt: usdc(4_000) } as const;
    const both = spec([leg({ trigger: trail, floor: { price: usdc(1_000) } }), other]);
    const strategy = trigger(both);
    for (const price of [3_900, 5_000, 5_000]) strategy.see(price);
    strategy.edit(spec([other]));
    strategy.see(4_600);
    strategy.edit(both);
    expect(strategy.see(4_500)).toBeInstanceOf(Array);
  });

  it("THR-15 that puts a leg back after a while finds what it missed like after any gap", () => {
    for (const onMissed of ["ignore", "fire-if-still-true"] as const) {
      const both = spec([leg({ onMissed }), other]);
      const strategy = trigger(both);
      strategy.see(4_400);
      strategy.edit(spec([other]));
      for (const price of [4_400, 4_600, 4_600, 4_600]) strategy.see(price);
      strategy.edit(both);
      const seen = strategy.see(4_600);
      expect(seen).toEqual(onMissed === "ignore" ? "not_armed" : quarter);
      if (onMissed !== "ignore") continue;
      strategy.see(4_400);
      expect(strategy.see(4_500)).toEqual(quarter);
    }
  });

  it("THR-15 that puts a leg back with another trigger sees the next price as the first one", () => {
    const strategy = trigger(spec([leg(), other]));
    strategy.see(4_400);
    strategy.edit(spec([other]));
    strategy.edit(spec([leg({ trigger: cross("above", 4_300) }), other]));
    expect(strategy.see(4_400)).toBe("not_armed");
  });

  it("THR-15 brings a cancelled leg back also where it is out of the file just then", () => {
    const strategy = trigger(spec([other, leg()]));
    strategy.see(4_000);
    strategy.see(4_500);
    strategy.end();
    strategy.edit(spec([leg({ rearm })]));
    strategy.edit(spec([other, leg({ rearm })]));
    strategy.see(4_000);
    expect(strategy.see(1_000)).toBeInstanceOf(Array);
  });

  it.each([
    ["whose trigger was moved", "main"],
    ["that is new", "again"],
  ])("THR-15 of if_already_true: fire fires a leg %s at its first look, however long nobody looked", (_what, id) => {
    const entry = { sell: USDC, buy: WETH } as const;
    const fires = { ifAlreadyTrue: "fire", onMissed: "ignore", amount: { raw: of(USDC, 100) } } as const;
    const before = spec([leg({ ...fires, trigger: cross("below", 2_400) })], entry);
    const strategy = trigger(before, { free: of(USDC, 100) });
    strategy.see(2_500);
    strategy.edit(spec([leg({ ...fires, id, trigger: cross("below", 2_450) })], entry));
    expect(strategy.see(2_440, 3_600)).toBeInstanceOf(Array);
  });

  describe("how often a leg has traded", () => {
    const times = (most: number | undefined) => leg({ rearm: { ...rearm, times: most } });
    /** Armed again after so many sales of at most six. */
    const rearmed = (fills: number, others: readonly ThresholdLeg[] = []) => {
      const strategy = trigger(spec([times(5), ...others]));
      for (let fill = 0; fill < fills; fill += 1) {
        strategy.see(4_000, DAY);
        strategy.see(4_500);
        strategy.end();
      }
      expect(strategy.see(4_000, DAY)).toBe("not_triggered");
      return strategy;
    };

    it("THR-15 goes on being counted under another trigger", () => {
      const strategy = rearmed(5);
      strategy.edit(spec([leg({ trigger: cross("above", 4_501), rearm: { ...rearm, times: 5 } })]));
      strategy.see(4_000);
      expect(strategy.see(4_501)).toBeInstanceOf(Array);
      strategy.end();
      strategy.see(4_000, DAY);
      expect(strategy.see(4_501)).toBe("already_fired");
    });

    it.each([
      ["the rearm rule away", leg()],
      ["repetitions away that were made", times(1)],
    ])("THR-15 ends an armed leg where an edit takes %s", (_what, after) => {
      const strategy = rearmed(3);
      strategy.edit(spec([after]));
      expect(strategy.see(4_500)).toBe("already_fired");
      strategy.edit(spec([times(3)]));
      expect(strategy.see(4_000)).toBe("not_triggered");
      expect(strategy.see(4_500)).toBeInstanceOf(Array);
    });

    it("THR-15 ends a leg whose rule went while it was trading, also where that came to nothing", () => {
      const strategy = rearmed(3, [other]);
      strategy.see(4_500);
      strategy.edit(spec([leg(), other]));
      strategy.end("nothing");
      expect([strategy.at(), strategy.at("other")]).toEqual(["done", "armed"]);
    });

    it("THR-15 is known of a leg that comes back with the one that cancelled it, in the file or not", () => {
      for (const isHere of [true, false]) {
        const strategy = rearmed(5, [other]);
        strategy.see(1_000);
        strategy.end();
        const back = leg({ ...other, rearm: { price: usdc(1_200), cooldownSeconds: DAY, times: undefined } });
        strategy.edit(spec(isHere ? [times(5), back] : [back]));
        strategy.edit(spec([times(5), back]));
        strategy.see(4_000);
        expect(strategy.see(4_500)).toBeInstanceOf(Array);
        strategy.end();
        strategy.see(4_000, DAY);
        expect(strategy.see(4_500)).not.toBeInstanceOf(Array);
      }
    });
  });

  it("THR-15 remembers the last hundred legs that were taken out", () => {
    const strategy = trigger(spec([other]));
    for (let number = 0; number < 103; number += 1) {
      strategy.edit(spec([leg({ id: `one-${number}` }), other]));
      strategy.see(4_400);
    }
    strategy.edit(spec([other]));
    const known = Object.keys(strategy.memory().legs);
    expect(known).toHaveLength(101);
    expect(known).toContain("one-102");
    expect(known).not.toContain("one-2");
  });

  it("THR-15 of a file that was stored before strategies had legs keeps what is remembered", () => {
    const { legs: _legs, ...before } = spec([leg()]);
    const memory = strategyEdited(before as never, spec([leg()]), { version: 1, state: "done" });
    expect(trigger(spec([leg()]), { memory }).see(4_600)).toBe("already_fired");
  });
});
