import { describe, expect, it } from "vitest";
import { decideStrategy, initialStrategyMemory, isExitStrategy } from "../../../src/domain/strategy/strategy.ts";
import { cross, DAY, leg, quarter, spec, trigger, usdc } from "./threshold-world.ts";
import { of, USDC, view, WETH } from "./world.ts";

const below = (price: number | string) => ({
  trigger: cross("below", price),
  floor: { steps: [] } as never,
});
const once = spec([leg()]);
const rearmed = spec([leg({ rearm: { price: usdc(4_200), cooldownSeconds: 3 * DAY, times: undefined } })]);
const entry = { sell: USDC, buy: WETH } as const;

describe("THR-1 a crossing", () => {
  it("THR-1 fires when the price comes from the other side and reaches the level", () => {
    const strategy = trigger(once);
    expect(strategy.see("4499.999999")).toBe("not_triggered");
    expect(strategy.see("4500")).toEqual(quarter);
  });

  it("THR-1 does not fire because the daemon starts while the condition is already true", () => {
    const strategy = trigger(once);
    expect(strategy.see("4600")).toBe("not_armed");
    expect(strategy.see("4700")).toBe("not_armed");
    expect(strategy.see("4499")).toBe("not_triggered");
    expect(strategy.see("4500")).toEqual(quarter);
  });

  it("THR-1 fires at once when it was told to", () => {
    expect(trigger(spec([leg({ ifAlreadyTrue: "fire" })])).see("4600")).toEqual(quarter);
  });

  it("THR-1 from above works the same, for a sale and for a purchase", () => {
    const sale = trigger(spec([leg({ trigger: cross("below", 2_400) })]));
    expect(sale.see("2401")).toBe("not_triggered");
    expect(sale.see("2400")).toEqual(quarter);
    const purchase = trigger(spec([leg({ trigger: cross("below", 2_400), amount: { raw: of(USDC, 3) } })], entry));
    expect(purchase.see("2401")).toBe("not_triggered");
    expect(purchase.see("2400")).toEqual([{ sell: USDC, buy: WETH, amount: { kind: "fixed", raw: of(USDC, 3) } }]);
  });
});

describe("THR-2 the price", () => {
  const armed = { version: 1, state: "armed", failures: 0 };

  it("THR-2 is measured in the quote token, not in dollars", () => {
    const prices = [
      [WETH, "4480"],
      [USDC, "0.99"],
    ] as const;
    const seen = view({ free: [[WETH, of(WETH, 8)]], prices });
    expect(decideStrategy(once, seen, armed).outcome.kind).toBe("swap");
  });

  it("THR-2 of both tokens is needed; without one it is asked for again and nothing counts as seen", () => {
    for (const prices of [
      [[WETH, "5000"]],
      [[USDC, "1"]],
      [
        [WETH, "0"],
        [USDC, "1"],
      ],
    ] as const) {
      const seen = view({ free: [[WETH, of(WETH, 8)]], prices });
      const decision = decideStrategy(once, seen, armed);
      expect(decision).toMatchObject({ outcome: { kind: "defer", reason: "unpriceable" } });
      expect(decision.memory).toEqual({ version: 2, legs: { main: expect.anything() }, sold: "0" });
    }
  });
});

describe("THR-3 a confirmation", () => {
  it("THR-3 takes the time that was asked for, and the checks, both", () => {
    const strategy = trigger(spec([leg({ confirm: { forSeconds: 60, samples: 4 } })]));
    strategy.see("4400");
    for (const _sample of [0, 30, 60]) expect(strategy.see("4500")).toBe("confirming");
    expect(strategy.see("4500")).toEqual(quarter);
    const slow = trigger(spec([leg({ confirm: { forSeconds: 100, samples: 2 } })]));
    slow.see("4400");
    for (const _sample of [0, 30, 60, 90]) expect(slow.see("4500")).toBe("confirming");
    expect(slow.see("4500")).toEqual(quarter);
  });

  it("THR-3 starts again when a check sees the condition broken", () => {
    const strategy = trigger(spec([leg({ confirm: { forSeconds: 0, samples: 2 } })]));
    strategy.see("4400");
    expect(strategy.see("4500")).toBe("confirming");
    expect(strategy.see("4499")).toBe("not_triggered");
    expect(strategy.see("4500")).toBe("confirming");
    expect(strategy.see("4500")).toEqual(quarter);
  });

  it("THR-4 starts again after a time without a check that is longer than max_gap, and goes on after a shorter one", () => {
    for (const [gapSeconds, outcome] of [
      [91, "confirming"],
      [90, quarter],
    ] as const) {
      const strategy = trigger(spec([leg({ confirm: { forSeconds: 80, samples: 1 } })]));
      strategy.see("4400");
      strategy.see("4500");
      expect(strategy.see("4500", gapSeconds)).toEqual(outcome);
    }
  });
});

describe("THR-5 a crossing that nobody saw", () => {
  const missed = (onMissed: "fire-if-still-true" | "ignore", gapSeconds: number) => {
    const strategy = trigger(spec([leg({ onMissed })]));
    strategy.see("4400");
    return { strategy, outcome: strategy.see("4600", gapSeconds) };
  };

  it("THR-5 fires if it is still true, where that is wanted", () => {
    expect(missed("fire-if-still-true", 5 * DAY).outcome).toEqual(quarter);
  });

  it("THR-5 is ignored where that is wanted: the price must be seen on the other side again", () => {
    const { strategy, outcome } = missed("ignore", 91);
    expect(outcome).toBe("not_armed");
    expect(strategy.see("4600")).toBe("not_armed");
    expect(strategy.see("4400")).toBe("not_triggered");
    expect(strategy.see("4600")).toEqual(quarter);
    expect(missed("ignore", 90).outcome).toEqual(quarter);
  });

  it("THR-5 is not one that was seen before the gap: only its timer starts again", () => {
    const strategy = trigger(spec([leg({ onMissed: "ignore", confirm: { forSeconds: 0, samples: 2 } })]));
    strategy.see("4400");
    expect(strategy.see("4600")).toBe("confirming");
    expect(strategy.see("4600", DAY)).toBe("confirming");
    expect(strategy.see("4600")).toEqual(quarter);
  });
});

describe("THR-6 after it fired", () => {
  it("THR-6 nothing fires until the run has ended, whatever the price does", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    for (const dollars of ["4600", "4000", "4600"]) expect(strategy.see(dollars, 30 * DAY)).toBe("already_fired");
  });

  it("THR-6 a stop stays armed through an outage of hours, however far the price falls, with an attempt a minute", () => {
    const stop = leg({ trigger: cross("below", 2_400), floor: { price: usdc(1_000) } });
    const strategy = trigger(spec([stop]));
    strategy.see("2500");
    const triedMs: number[] = [];
    for (let sample = 0; sample < 240; sample += 1) {
      const outcome = strategy.see(2_390 - sample, 30);
      if (typeof outcome === "string") expect(outcome).toBe("backing_off");
      else {
        triedMs.push(strategy.nowMs());
        strategy.end("nothing", 12);
      }
    }
    const waits = triedMs.slice(1).map((atMs, index) => atMs - (triedMs[index] ?? 0));
    expect(Math.max(...waits)).toBeLessThanOrEqual(84_000);
    expect(Math.min(...waits.slice(6))).toBeGreaterThanOrEqual(55_000);
    expect(strategy.alerts()).toEqual(["TRIGGER_NOT_FILLED"]);
    while (typeof strategy.see("2000", 30) === "string");
    strategy.end();
    expect(strategy.at()).toBe("done");
  });

  it("THR-6 an attempt that began while the clock ran hours ahead delays no other one once it is set right", () => {
    const strategy = trigger(spec([leg({ trigger: cross("below", 2_400) })]));
    strategy.see("2500");
    expect(strategy.see("2390", 6 * 3_600)).toEqual(quarter);
    strategy.end("nothing");
    expect(strategy.see("2380", 60 - 6 * 3_600)).toEqual(quarter);
  });

  it("THR-4 a condition that was seen while the clock ran hours ahead is confirmed after its own time all the same", () => {
    const confirm = { forSeconds: 60, samples: 2 };
    const strategy = trigger(spec([leg({ trigger: cross("below", 2_400), confirm })]));
    strategy.see("2500");
    expect(strategy.see("2390", 6 * 3_600)).toBe("confirming");
    expect(strategy.see("2390", 30 - 6 * 3_600)).toBe("confirming");
    expect(strategy.see("2390", 60)).toEqual(quarter);
  });

  it("THR-6 a crossing begins anew without a rest once the price was on the other side", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(strategy.see("4600", 60)).toEqual(quarter);
      strategy.end("nothing");
    }
    expect(strategy.see("4600", 1)).toBe("backing_off");
    strategy.see("4000", 1);
    expect(strategy.see("4600", 1)).toEqual(quarter);
  });

  it("THR-6 three signed swaps that came to nothing give the crossing back: it must cross again", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(strategy.see("4600")).toEqual(quarter);
      strategy.end("reverted");
    }
    expect(strategy.see("4600")).toBe("not_armed");
    expect(strategy.see("4400")).toBe("not_triggered");
    expect(strategy.see("4600")).toEqual(quarter);
  });

  it("THR-6 notifies a person that the trigger is given back", () => {
    const strategy = trigger(spec([leg()], { attempts: 1 }));
    strategy.see("4000");
    strategy.see("4600");
    strategy.end("reverted");
    expect(strategy.alerts()).toEqual(["TRIGGER_GIVEN_BACK"]);
  });

  it("THR-6 dry runs are no attempts: they fire at each check, notify nobody, and leave a live run all its attempts", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    for (let sample = 0; sample < 20; sample += 1) {
      expect(strategy.see("4600", 1)).toEqual(quarter);
      strategy.end("dry_run");
    }
    expect(strategy.alerts()).toEqual([]);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(strategy.see("4600", 60)).toEqual(quarter);
      strategy.end("reverted");
    }
    expect(strategy.see("4600", 60)).toEqual(quarter);
    expect(strategy.alerts()).toEqual([]);
    strategy.end("nothing");
    expect(strategy.alerts()).toEqual(["TRIGGER_NOT_FILLED"]);
    expect(strategy.see("4600", 60)).toEqual(quarter);
    strategy.end("reverted");
    expect(strategy.alerts()).toEqual(["TRIGGER_NOT_FILLED", "TRIGGER_GIVEN_BACK"]);
    expect(strategy.see("4600", 60)).toBe("not_armed");
  });

  it("THR-6 attempts of an earlier crossing do not count against a later one", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end("reverted");
    strategy.see("4000");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(strategy.see("4600")).toEqual(quarter);
      strategy.end("reverted");
    }
    expect(strategy.see("4600")).toBe("not_armed");
  });

  it("THR-6 a confirmed crossing is tried again without a second confirmation, however long its run took", () => {
    const strategy = trigger(spec([leg({ confirm: { forSeconds: 60, samples: 3 }, onMissed: "ignore" })]));
    strategy.see("4000");
    for (const _sample of [0, 30]) expect(strategy.see("4600")).toBe("confirming");
    expect(strategy.see("4600")).toEqual(quarter);
    strategy.end("nothing", 1_000);
    expect(strategy.see("4600")).toEqual(quarter);
    strategy.end("nothing", 1_000);
    expect(strategy.see("4600", 91)).toBe("confirming");
  });

  it("THR-6 a second report of the same run's end changes nothing", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end();
    const memory = strategy.memory();
    strategy.end("nothing");
    expect(strategy.memory()).toEqual(memory);
  });
});

describe("THR-7 once it traded", () => {
  it("THR-7 it is done for ever without a rearm rule", () => {
    const strategy = trigger(once);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end();
    expect(strategy.see("4000")).toBe("already_fired");
    expect(strategy.see("4600")).toBe("already_fired");
  });

  it("THR-7 it needs the cooldown and the far side, both, before it is armed again", () => {
    const strategy = trigger(rearmed);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end();
    expect(strategy.see("4100", DAY)).toBe("cooling_down");
    expect(strategy.see("4300", 2 * DAY)).toBe("not_armed");
    expect(strategy.see("4600")).toBe("not_armed");
    expect(strategy.see("4200")).toBe("not_triggered");
    expect(strategy.see("4500")).toEqual([{ ...quarter[0], amount: { kind: "fixed", raw: of(WETH, "1.5") } }]);
  });

  it("THR-7 it is armed again as often as repeat says", () => {
    const strategy = trigger(spec([leg({ rearm: { price: usdc(4_200), cooldownSeconds: 60, times: 2 } })]));
    let trades = 0;
    for (let wave = 0; wave < 6; wave += 1) {
      strategy.see("4000", 90);
      if (typeof strategy.see("4600") === "string") continue;
      strategy.end();
      trades += 1;
    }
    expect(trades).toBe(3);
    expect(strategy.at()).toBe("done");
  });
});

describe("THR-8 a level", () => {
  const level = leg({
    trigger: { kind: "level", side: "above", price: usdc(4_500) },
    rearm: { price: undefined, cooldownSeconds: DAY, times: undefined },
  });

  it("THR-8 trades wherever the price came from, and again after each cooldown while it is true", () => {
    const strategy = trigger(spec([level]));
    expect(strategy.see("4600")).toEqual(quarter);
    strategy.end();
    expect(strategy.see("4600", DAY - 1)).toBe("cooling_down");
    expect(strategy.see("4600", 1)).toMatchObject([{ amount: { raw: of(WETH, "1.5") } }]);
  });

  it("THR-8 is tried again after an attempt that signed nothing, and waits for its cooldown once it is given back", () => {
    const strategy = trigger(spec([level], { attempts: 1 }));
    strategy.see("4600");
    strategy.end("nothing");
    expect(strategy.see("4600")).toEqual(quarter);
    strategy.end("reverted");
    expect(strategy.see("4600", DAY - 1)).toBe("cooling_down");
    expect(strategy.see("4600", 1)).toEqual(quarter);
  });
});

it("THR-9 does not fire, and stays armed, when there is nothing to sell, or less than a fixed amount", () => {
  const empty = trigger(once, { free: 0n });
  empty.see("4000");
  expect(empty.see("4600")).toBe("insufficient_balance");
  empty.fund(of(WETH, 8));
  expect(empty.see("4600")).toEqual(quarter);
  const fixed = trigger(spec([leg({ amount: { raw: of(WETH, 9) } })]));
  fixed.see("4000");
  expect(fixed.see("4600")).toBe("insufficient_balance");
  expect(fixed.at()).toBe("armed");
});

describe("THR-16 the end", () => {
  it("THR-16 the strategy stops itself when no trigger is left", () => {
    const strategy = trigger(once);
    strategy.see("4000");
    strategy.see("4600");
    strategy.end();
    expect(strategy.pauses()).toEqual(["completed"]);
    strategy.see("4600");
    expect(strategy.pauses()).toEqual(["completed", "completed"]);
  });

  it("THR-16 nothing is begun after until, and what is latched ends first", () => {
    const untilMs = 1_700_000_000_000 + 90_000;
    const strategy = trigger(spec([leg()], { untilMs }));
    strategy.see("4000");
    strategy.see("4000");
    expect(strategy.see("4600")).toEqual(quarter);
    expect(strategy.see("4600")).toBe("already_fired");
    strategy.end("nothing");
    expect(strategy.see("4600")).toBe("ended");
    expect(strategy.pauses()).toEqual(["completed"]);
  });
});

it("THR-18 is an exit when it sells the token that it watches", () => {
  expect(isExitStrategy(once)).toBe(true);
  expect(isExitStrategy(spec([leg(), leg({ id: "stop", ...below(2_400) })]))).toBe(true);
  expect(isExitStrategy(spec([leg()], entry))).toBe(false);
});

describe("THR-17 memory", () => {
  it.each([
    undefined,
    {},
    { version: 1 },
    { version: 3, legs: {}, sold: "0" },
    { version: 1, state: "armed" },
    { version: 1, state: "armed", failures: -1 },
    { version: 1, state: "fired", failures: 0 },
    { version: 1, state: "cooling", untilMs: "soon" },
    { version: 1, state: "elsewhere" },
    { version: 2, legs: {} },
    { version: 2, legs: { main: { at: { state: "waiting" } } }, sold: "0" },
    { version: 2, legs: { main: { at: { state: "waiting" }, fills: 0, trail: { mark: "1" } } }, sold: "0" },
    { version: 2, legs: { main: { at: { state: "waiting" }, fills: 0, rise: { sinceMs: 1, samples: 1 } } }, sold: "0" },
    {
      version: 2,
      legs: { main: { at: { state: "waiting" }, fills: 0, rises: [{ sinceMs: 1, samples: 1 }] } },
      sold: "0",
    },
    { version: 2, legs: {}, sold: "-1" },
    { version: 2, legs: {}, sold: "0", seenMs: -1 },
  ])("THR-17 that is damaged is refused, instead of arming a trigger anew: %j", (memory) => {
    expect(() => decideStrategy(once, view({}), memory)).toThrow(/none of a threshold strategy/);
  });

  it.each([
    [{ version: 1, state: "waiting" }, "not_armed"],
    [{ version: 1, state: "armed", failures: 2 }, quarter],
    [{ version: 1, state: "fired", failures: 0, slotMs: 1 }, "already_fired"],
    [{ version: 1, state: "cooling", untilMs: 1_800_000_000_000 }, "cooling_down"],
    [{ version: 1, state: "done" }, "already_fired"],
  ])("THR-17 of the first version goes on: %j", (memory, outcome) => {
    expect(trigger(rearmed, { memory }).see("4600")).toEqual(outcome);
  });
});

describe("THR-19 min_fill", () => {
  const least = spec([leg()], { minFill: of(WETH, "0.5") });

  it("THR-19 a share that would be less does not fire, and fires once there is enough", () => {
    const strategy = trigger(least, { free: of(WETH, "1.9") });
    expect(strategy.see("4400")).toBe("not_triggered");
    expect(strategy.see("4600")).toBe("below_minimum_trade");
    expect([strategy.at(), strategy.pauses()]).toEqual(["armed", []]);
    strategy.fund(of(WETH, 2));
    expect(strategy.see("4600")).toEqual([{ sell: WETH, buy: USDC, amount: { kind: "fixed", raw: of(WETH, "0.5") } }]);
  });

  it("THR-19 an empty wallet has too little as before", () => {
    const strategy = trigger(least, { free: 0n });
    strategy.see("4400");
    expect(strategy.see("4600")).toBe("insufficient_balance");
  });

  it("THR-19 says what it would sell", () => {
    const seen = view({
      free: [[WETH, of(WETH, 1)]],
      prices: [
        [WETH, "4600"],
        [USDC, "1"],
      ],
    });
    const fires = spec([leg({ ifAlreadyTrue: "fire" })], { minFill: of(WETH, "0.5") });
    expect(decideStrategy(fires, seen, initialStrategyMemory(fires)).outcome).toMatchObject({
      detail: '"main" is triggered, but would sell 0.25 WETH, and min_fill is 0.5 WETH',
    });
  });
});
