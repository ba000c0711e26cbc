import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { PlannedSwap } from "../../../src/domain/strategy/decision.ts";
import type { ThresholdLeg } from "../../../src/domain/strategy/threshold-spec.ts";
import { cross, DAY, leg, quarter, spec, trigger, usdc } from "./threshold-world.ts";
import { of, USDC, WBTC, WETH } from "./world.ts";

const all = { share: toPpm(1_000_000) };
const stop = leg({ id: "stop", trigger: cross("below", 2_400), amount: all, floor: { steps: [toPpm(30_000)] } });
const profit = leg({ id: "profit" });

/** What a check sold, in the smallest unit; undefined when it sold nothing. */
function soldBy(outcome: readonly PlannedSwap[] | string): bigint | undefined {
  if (typeof outcome === "string") return undefined;
  const [swap] = outcome;
  return swap?.amount.kind === "fixed" ? swap.amount.raw : undefined;
}

describe("THR-13 of a group", () => {
  it("THR-13 the first leg that trades for the last time cancels the others, for ever", () => {
    const strategy = trigger(spec([stop, profit]));
    strategy.see(3_000);
    expect(strategy.see(4_500)).toEqual(quarter);
    strategy.end();
    expect(strategy.see(2_000)).toBe("already_fired");
    expect([strategy.at("stop"), strategy.at("profit")]).toEqual(["cancelled", "done"]);
    expect(strategy.pauses()).toContain("completed");
  });

  it("THR-13 a leg that is armed again cancels nobody: the stop goes on guarding what is left", () => {
    const rearm = { price: usdc(4_200), cooldownSeconds: 3 * DAY, times: undefined };
    const strategy = trigger(spec([stop, leg({ id: "profit", rearm })]));
    strategy.see(3_000);
    strategy.see(4_500);
    strategy.end();
    expect(strategy.pauses()).toEqual([]);
    expect(soldBy(strategy.see(2_400))).toBe(of(WETH, 6));
    strategy.end();
    expect(strategy.at("profit")).toBe("cancelled");
  });

  it("THR-13 one leg at a time holds the allocation, from its fire to the end of its attempts", () => {
    const early = leg({ id: "early", trigger: cross("above", 4_000) });
    const strategy = trigger(spec([profit, early], { attempts: 2 }));
    strategy.see(3_000);
    expect(soldBy(strategy.see(4_100))).toBe(of(WETH, 2));
    expect(strategy.see(4_600)).toBe("already_fired");
    strategy.end("reverted");
    strategy.see(4_600);
    expect([strategy.at("early"), strategy.at("profit")]).toEqual(["fired", "armed"]);
    strategy.end("reverted");
    strategy.see(4_600);
    expect([strategy.at("early"), strategy.at("profit")]).toEqual(["given-back", "fired"]);
  });

  it("THR-13 a leg with too little to sell does not stand in the way of the next one", () => {
    const large = leg({ id: "large", amount: { raw: of(WETH, 9) } });
    const strategy = trigger(spec([large, profit]));
    strategy.see(3_000);
    expect(strategy.see(4_500)).toEqual(quarter);
    expect([strategy.at("large"), strategy.at("profit")]).toEqual(["armed", "fired"]);
  });

  it("THR-13 a leg may be called like a property that every object has", () => {
    const strategy = trigger(spec([stop, leg({ id: "constructor" })]));
    strategy.see(3_000);
    expect(strategy.see(4_500)).toEqual(quarter);
    expect(strategy.at("constructor")).toBe("fired");
  });

  it("THR-13 the latch of a failed attempt is over once its condition is", () => {
    const strategy = trigger(spec([stop, profit]));
    strategy.see(3_000);
    strategy.see(2_400);
    strategy.end("nothing");
    expect(strategy.see(4_500)).toEqual(quarter);
  });

  it("THR-13 with a allocation all legs together sell no more than it, whatever else is in the wallet", () => {
    const rearm = { price: usdc(4_200), cooldownSeconds: 60, times: undefined };
    const fixed = leg({ id: "profit", amount: { raw: of(WETH, 3) }, rearm });
    const strategy = trigger(spec([stop, fixed], { allocation: { raw: of(WETH, 4) } }));
    strategy.see(3_000);
    expect(soldBy(strategy.see(4_500))).toBe(of(WETH, 3));
    strategy.end();
    strategy.see(4_000, 90);
    expect(strategy.see(4_500)).toBe("budget_spent");
    expect(strategy.detail()).toBe(
      '"profit" is triggered, but 1 WETH are left of the allocation of 4 WETH, and it would sell 3 WETH',
    );
    expect(strategy.pauses()).toEqual([]);
    expect(soldBy(strategy.see(2_400))).toBe(of(WETH, 1));
  });

  it.each([
    ["an amount", { raw: of(WETH, 1) }, of(WETH, 8)],
    ["what was free at the first sale", "free", of(WETH, 1)],
  ] as const)(
    "THR-13 once nothing is left of an allocation of %s, it is over whatever else is in the wallet",
    (_name, allocation, free) => {
      const rearm = { price: usdc(2_600), cooldownSeconds: DAY, times: undefined };
      const fixed = leg({ id: "profit", amount: { raw: of(WETH, "0.4") } });
      const strategy = trigger(spec([{ ...stop, rearm }, fixed], { allocation }), { free });
      strategy.see(3_000);
      strategy.see(2_300);
      expect(strategy.end()).toBe(of(WETH, 1));
      strategy.see(3_000, 2 * DAY);
      strategy.fund(of(WETH, 7));
      expect(strategy.see(2_300)).toBe("budget_spent");
      expect(strategy.detail()).toBe('"stop" is triggered, but nothing is left of the allocation of 1 WETH');
      expect(strategy.pauses()).toEqual(["completed"]);
    },
  );

  it.each([
    ["an amount", { raw: of(WETH, 1) }],
    ["what is free", "free"],
  ] as const)(
    "THR-9 of an allocation of %s an empty wallet holds too little of, and nothing is over",
    (_name, allocation) => {
      const strategy = trigger(spec([stop, profit], { allocation }), { free: 0n });
      strategy.see(3_000);
      expect([strategy.see(2_300), strategy.pauses()]).toEqual(["insufficient_balance", []]);
      strategy.fund(of(WETH, 1));
      expect(soldBy(strategy.see(2_300))).toBe(of(WETH, 1));
    },
  );

  it("THR-19 a share that comes to less than the smallest unit is too small, whatever is free", () => {
    const strategy = trigger(spec([profit]), { free: 3n });
    strategy.see(3_000);
    expect(strategy.see(4_500)).toBe("below_minimum_trade");
    expect(strategy.detail()).toBe('"profit" is triggered, but its share comes to less than the smallest unit of WETH');
    strategy.fund(0n);
    expect(strategy.see(4_500)).toBe("insufficient_balance");
    strategy.fund(4n);
    expect(soldBy(strategy.see(4_500))).toBe(1n);
  });

  it.each([
    ["an amount", { raw: of(WETH, 4) }, of(WETH, 1)],
    ["all that was free", "free", of(WETH, 5)],
  ] as const)(
    "THR-13 of an allocation of %s what a person accepted as sold by another database is sold, once",
    (_name, allocation, left) => {
      const strategy = trigger(spec([stop, profit], { allocation }), { free: of(WETH, 5) });
      strategy.see(3_000);
      strategy.accept(of(WETH, 3));
      expect(soldBy(strategy.see(2_400))).toBe(left);
      strategy.end("reverted");
      strategy.fund(of(WETH, 8));
      expect(soldBy(strategy.see(2_400))).toBe(left);
      strategy.edit(spec([stop, profit], { allocation, buy: WBTC }));
      expect([strategy.see(3_000), strategy.memory().sold]).toEqual(["not_triggered", "0"]);
    },
  );
});

describe("THR-6 the time of an own run is no gap", () => {
  const profit = leg({ id: "profit", rearm: { price: usdc(4_200), cooldownSeconds: 60, times: undefined } });
  const run = (guard: ThresholdLeg, prices: readonly number[]) => {
    const strategy = trigger(spec([profit, guard]));
    for (const price of prices) strategy.see(price);
    expect(strategy.see(4_500)).toEqual(quarter);
    strategy.see(4_500, 150);
    strategy.end("filled", 150);
    return strategy;
  };

  it("THR-6 for the other legs either: a crossing meanwhile is not one that nobody could see", () => {
    const guard = leg({ id: "stop", trigger: cross("below", 2_400), onMissed: "ignore" });
    expect(run(guard, [3_000]).see(2_300)).toBeInstanceOf(Array);
  });

  it("THR-6 for their confirmations: what held before it holds on", () => {
    const guard = leg({ id: "high", trigger: cross("above", 4_000), confirm: { forSeconds: 300, samples: 1 } });
    expect(run(guard, [3_000, 4_000]).see(4_400)).toBeInstanceOf(Array);
  });

  it("THR-6 for their marks: a rise that began before it goes on", () => {
    const trail = { kind: "trail", share: toPpm(100_000), activateAt: usdc(4_000) } as const;
    const guard = leg({ id: "trail", trigger: trail, confirm: { forSeconds: 300, samples: 2 } });
    const strategy = run(guard, [3_000, 4_400]);
    strategy.see(4_450);
    expect(strategy.memory().legs.trail?.trail).toMatchObject({ mark: String(usdc(4_450)) });
  });

  it("THR-6 but what follows it without a check is", () => {
    const guard = leg({ id: "stop", trigger: cross("below", 2_400), onMissed: "ignore" });
    expect(run(guard, [3_000]).see(2_300, 91)).toBe("not_armed");
  });
});

describe("THR-14 a ladder", () => {
  const level = (id: string, price: number, ppm: number) =>
    leg({ id, role: "level", trigger: cross("above", price), amount: { share: toPpm(ppm) } });
  const thirds = [level("one", 4_000, 333_333), level("two", 4_500, 333_333), level("three", 5_000, 333_334)];
  const ladder = (legs = thirds, free?: bigint) => {
    const strategy = trigger(spec(legs, { allocation: "free" }), free === undefined ? {} : { free });
    strategy.see(3_000);
    return strategy;
  };

  it("THR-14 sells a share of the original allocation at each level, and with the last one all that is left of it", () => {
    const strategy = ladder(thirds, 1_000_000_001n);
    expect(soldBy(strategy.see(4_000))).toBe(333_333_000n);
    strategy.end();
    strategy.fund(of(WETH, 50));
    expect(soldBy(strategy.see(4_500))).toBe(333_333_000n);
    strategy.end();
    expect(soldBy(strategy.see(5_000))).toBe(333_334_001n);
    strategy.end();
    expect(strategy.pauses()).toEqual(["completed"]);
  });

  it("THR-14 fires each level once, one after another when a jump passes several", () => {
    const strategy = ladder();
    for (const id of ["one", "two", "three"]) {
      expect(soldBy(strategy.see(6_000)), id).toBeDefined();
      expect(strategy.at(id)).toBe("fired");
      strategy.end();
    }
    strategy.see(3_000);
    expect(strategy.see(6_000)).toBe("already_fired");
  });

  it("THR-14 that sells only a part keeps the rest", () => {
    const strategy = ladder([level("one", 4_000, 250_000), level("two", 4_500, 250_000)]);
    const sold = [4_000, 4_500].map((price) => {
      strategy.see(price);
      return strategy.end();
    });
    expect(sold).toEqual([of(WETH, 2), of(WETH, 2)]);
  });

  it("THR-14 measures its allocation at the first sale, again until something was sold of it", () => {
    const strategy = ladder(thirds, 900n);
    strategy.see(4_000);
    strategy.end("nothing");
    strategy.fund(9_000_000n);
    expect(soldBy(strategy.see(4_000))).toBe(2_999_997n);
  });

  it.each([
    ["none of which comes to one unit", [250_000, 250_000, 250_000, 250_000], 3n, [0n, 0n, 0n, 3n]],
    ["of which the first comes to none", [100_000, 400_000, 500_000], 5n, [0n, 2n, 3n]],
    ["of which the last comes to none", [500_000, 450_000, 50_000], 10n, [5n, 4n, 1n]],
  ])(
    "THR-14 sells what rounding left of a few units with its last level, also of levels %s",
    (_what, shares, free, sold) => {
      const strategy = ladder(
        shares.map((ppm, index) => level(`l${index}`, 4_000 + 100 * index, ppm)),
        free,
      );
      const sales = shares.map((_ppm, index) => {
        if (soldBy(strategy.see(4_000 + 100 * index)) !== undefined) return strategy.end();
        expect(strategy.pauses()).toEqual([]);
        return 0n;
      });
      expect(sales).toEqual(sold);
      strategy.fund(50n);
      strategy.see(4_900);
      expect(strategy.pauses()[0]).toBe("completed");
    },
  );

  it("THR-14 sells what is there when somebody took from the allocation", () => {
    const strategy = ladder();
    strategy.see(4_000);
    strategy.end();
    strategy.fund(5n);
    expect(soldBy(strategy.see(4_500))).toBe(5n);
  });

  it("THR-14 alongside a stop: levels cancel nobody, the stop sells what they left and ends the ladder", () => {
    const strategy = ladder([stop, ...thirds], 3_000_000n);
    strategy.see(4_000);
    strategy.end();
    expect(strategy.at("stop")).toBe("armed");
    strategy.fund(of(WETH, 8));
    expect(soldBy(strategy.see(2_300))).toBe(3_000_000n - 999_999n);
    strategy.end();
    expect(strategy.see(6_000)).toBe("already_fired");
  });

  it("THR-14 that has sold its allocation cancels the stop", () => {
    const strategy = ladder([stop, ...thirds]);
    for (const price of [4_000, 4_500, 5_000]) {
      strategy.see(price);
      strategy.end();
    }
    expect(strategy.at("stop")).toBe("cancelled");
  });

  it("THR-14 buys down the same way", () => {
    const rung = (id: string, price: number) =>
      leg({ id, role: "level", trigger: cross("below", price), amount: { share: toPpm(500_000) } });
    const entry = { sell: USDC, buy: WETH, allocation: { raw: of(USDC, 1_001) } } as const;
    const strategy = trigger(spec([rung("one", 2_400), rung("two", 2_200)], entry), { free: of(USDC, 5_000) });
    strategy.see(3_000);
    expect(soldBy(strategy.see(2_400))).toBe(of(USDC, "500.5"));
    strategy.end();
    expect(soldBy(strategy.see(2_200))).toBe(of(USDC, "500.5"));
  });
});
