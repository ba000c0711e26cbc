import { describe, expect, it } from "vitest";
import { NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { parseUsd } from "../../../src/domain/money/price.ts";
import { decideStrategy, strategyEdited } from "../../../src/domain/strategy/strategy.ts";
import { HOUR, legsIn, mixSpec, percent, RebalanceLife, RULES, START_MS, target } from "./rebalance-world.ts";
import { DAI, of, USDC, view, WBTC, WETH } from "./world.ts";

const bands = {
  soft: { relative: percent(20), absolute: undefined },
  hard: { relative: percent(60), absolute: undefined },
};
const ETH = { symbol: "ETH", address: NATIVE_TOKEN, decimals: 18 };
const halves = [target(WETH, 50, bands), target(USDC, 50, bands)];
const rules = { ...RULES, soft: { forSeconds: 3_600, cooldownSeconds: 172_800 }, hard: { forSeconds: 600 } };
const timed = mixSpec(halves, { bands: rules });

const DOLLAR = 10n ** 18n;

/** A wallet of 6000 dollars of which ether is a share. */
function holding(spec: RebalanceLife["spec"], percentOfEther: number): RebalanceLife {
  const life = new RebalanceLife(spec, []);
  return hold(life, percentOfEther);
}

function hold(life: RebalanceLife, percentOfEther: number): RebalanceLife {
  life.free.set(WETH, (of(WETH, 2) * BigInt(percentOfEther)) / 100n);
  life.free.set(USDC, of(USDC, 60 * (100 - percentOfEther)));
  return life;
}

function reasonOf(life: RebalanceLife): string {
  const outcome = life.decide();
  return outcome.kind === "swap" ? "swap" : outcome.reason;
}

describe("confirmation", () => {
  it("REB-16 waits until the soft band was left for long enough, and a check inside begins it anew", () => {
    const life = holding(timed, 65);
    expect(life.decide()).toEqual({
      kind: "skip",
      reason: "confirming",
      detail: "outside for too short a time, 1h are left; WETH 65% of 50%, USDC 35% of 50%",
    });
    expect(reasonOf(life.pass(HOUR - 1))).toBe("confirming");
    expect(reasonOf(hold(life, 55))).toBe("within_bands");
    expect(reasonOf(hold(life, 65).pass(1_000))).toBe("confirming");
    expect(reasonOf(life.pass(HOUR))).toBe("swap");
  });

  it("REB-16 begins anew when nobody looked for longer than max_gap", () => {
    const life = holding(timed, 65);
    expect(reasonOf(life)).toBe("confirming");
    expect(reasonOf(life.pass(25 * HOUR))).toBe("confirming");
    expect(reasonOf(life.pass(HOUR))).toBe("swap");
  });

  it("REB-16 does not count a check that saw no prices", () => {
    const life = holding(timed, 65);
    life.decide();
    life.prices.delete(WETH);
    expect(reasonOf(life.pass(20 * HOUR))).toBe("unpriceable");
    life.prices.set(WETH, "3000");
    expect(reasonOf(life.pass(20 * HOUR))).toBe("confirming");
  });

  it("REB-17 of the hard band is its own, and its breach ignores the cooldown", () => {
    const life = holding(timed, 65);
    life.decide();
    life.pass(HOUR).slot();
    expect(life.weight(WETH)).toBe(500_000);
    hold(life, 65).decide();
    expect(reasonOf(life.pass(HOUR))).toBe("cooling_down");
    expect(reasonOf(hold(life, 85))).toBe("cooling_down");
    expect(reasonOf(life.pass(599_000))).toBe("cooling_down");
    expect(reasonOf(life.pass(1_000))).toBe("swap");
  });

  it("REB-18 is over with the cooldown, which counts from the end of the last completed rebalance", () => {
    const life = holding(timed, 65);
    life.decide();
    life.pass(HOUR).slot();
    const doneMs = life.nowMs;
    expect(life.remembered().doneMs).toBe(doneMs);
    for (; life.nowMs < doneMs + 172_800_000; life.pass(HOUR)) expect(reasonOf(hold(life, 65))).not.toBe("swap");
    expect(reasonOf(life)).toBe("swap");
  });

  it("REB-18 a rebalance of which nothing was filled begins no cooldown", () => {
    const life = holding(timed, 65);
    life.decide();
    life.fails = () => "quote_unavailable";
    expect(life.pass(HOUR).slot().kind).toBe("swap");
    expect(life.remembered().doneMs).toBeUndefined();
    expect(reasonOf(life.pass(60_000))).toBe("swap");
  });
});

describe("turnover", () => {
  const capped = (maxTurnover: Partial<RebalanceLife["spec"]["trades"]["maxTurnover"]>) =>
    mixSpec([target(WETH, 50), target(WBTC, 25), target(USDC, 25)], {
      trades: { maxTurnover: { perDay: undefined, perRun: undefined, ...maxTurnover } },
    });

  it("REB-19 per run takes the largest drift first, and goes on over the next slots although no band is left broken", () => {
    const life = new RebalanceLife(capped({ perRun: percent(20) }), [[WETH, 2]]);
    expect(legsIn(life.slot())).toEqual(["0.4 WETH -> WBTC"]);
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["0.4 WETH -> USDC"]);
    expect(life.remembered()).toMatchObject({ isConverging: true });
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["0.1 WETH -> WBTC", "0.1 WETH -> USDC"]);
    expect(life.remembered()).toMatchObject({ isConverging: false, doneMs: life.nowMs });
    expect(reasonOf(life.pass(HOUR))).toBe("within_bands");
  });

  it("REB-19 per day is never exceeded in any 24 hours, and says so when it is used up", () => {
    const life = new RebalanceLife(capped({ perDay: percent(20) }), [[WETH, 2]]);
    expect(legsIn(life.slot())).toEqual(["0.4 WETH -> WBTC"]);
    for (let hour = 0; hour < 24; hour += 1) expect(reasonOf(life.pass(HOUR))).toBe("turnover_spent");
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["0.4 WETH -> USDC"]);
  });

  it("REB-19 counts what was swapped, not what was wished", () => {
    const life = new RebalanceLife(capped({ perDay: percent(20) }), [[WETH, 2]]);
    life.fails = () => "quote_unavailable";
    life.slot();
    life.fails = () => undefined;
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["0.4 WETH -> WBTC"]);
  });

  it.each(["perDay", "perRun"] as const)(
    "REB-19 %s says so when all of it is less than the smallest trade",
    (bound) => {
      const maxTurnover = { perDay: undefined, perRun: undefined, [bound]: percent(10) };
      const mix = mixSpec(halves, { trades: { min: of(USDC, 250), maxTurnover } });
      const life = new RebalanceLife(mix, [
        [WETH, "0.5"],
        [USDC, 500],
      ]);
      expect(life.decide()).toEqual({
        kind: "skip",
        reason: "below_minimum_trade",
        detail: "trades.min is more than max_turnover lets through; WETH 75% of 50%, USDC 25% of 50%",
      });
    },
  );

  it.each(["7", "6"])("REB-19 is a share of what is there while cash is missing, with %s WETH", (ether) => {
    const cash = { token: USDC, min: of(USDC, 20_000) };
    const maxTurnover = { perDay: percent(10), perRun: undefined };
    const life = new RebalanceLife(mixSpec(halves, { cash, trades: { min: of(USDC, 250), maxTurnover } }), [
      [WETH, ether],
    ]);
    let there = life.value(WETH);
    while (there >= 2_500n * DOLLAR) {
      expect(life.pass(25 * HOUR).slot().kind).toBe("swap");
      expect(there - life.value(WETH)).toBeLessThanOrEqual(there / 10n);
      there = life.value(WETH);
      const reason = there < 2_500n * DOLLAR ? "below_minimum_trade" : "turnover_spent";
      expect(life.pass(HOUR).slot()).toMatchObject({ reason });
    }
    expect(life.pass(25 * HOUR).slot()).toMatchObject({
      reason: "below_minimum_trade",
      detail: expect.stringContaining("trades.min is more than max_turnover lets through"),
    });
  });

  it("REB-20 keeps below the policy's largest trade instead of being denied, and goes on at the next slots", () => {
    const maxUsd = parseUsd("1000");
    const life = new RebalanceLife(mixSpec([target(WETH, 50), target(USDC, 50)], { trades: { maxUsd } }), [[WETH, 2]]);
    const sold = [1, 2, 3, 4].map(() => life.pass(HOUR).slot());
    expect(sold.map((outcome) => outcome.kind)).toEqual(["swap", "swap", "swap", "swap"]);
    expect(life.done.map(({ bought }) => Number(bought / 1_000_000n))).toEqual([950, 950, 950, 150]);
    expect(reasonOf(life)).toBe("within_bands");
  });
});

it("REB-20 says so when the smallest trade is more than the policy lets through", () => {
  const maxUsd = parseUsd("52");
  const life = new RebalanceLife(mixSpec([target(WETH, 50), target(USDC, 50)], { trades: { maxUsd } }), [[WETH, 2]]);
  expect(life.decide()).toEqual({
    kind: "skip",
    reason: "below_minimum_trade",
    detail: "trades.min is more than the policy's max_trade lets through; WETH 100% of 50%, USDC 0% of 50%",
  });
});

describe("a sell without its buy", () => {
  const mix = mixSpec([target(WETH, 40), target(WBTC, 40), target(USDC, 20)], { trades: { via: DAI } });

  it("REB-21 stops the strategy, and after a resume what was sold is bought for and nothing is sold again", () => {
    const life = new RebalanceLife(mix, [[WETH, 10]]);
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    expect(life.pause).toBe(
      "legs_incomplete: 12000 DAI that sells brought wait for buys that did not happen: WBTC (quote_refused); " +
        "after a resume they are bought first, and nothing is sold again for it",
    );
    expect(life.remembered().doneMs).toBeUndefined();
    life.fails = () => undefined;
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["12000 DAI -> WBTC"]);
    expect(life.pause).toBeUndefined();
    expect(life.remembered().owed).toEqual({});
    expect(life.remembered().doneMs).toBe(life.nowMs);
    expect(life.done.filter(({ sell }) => sell === WETH)).toHaveLength(1);
    expect(reasonOf(life.pass(HOUR))).toBe("within_bands");
  });

  it("REB-21 stays owed over another failed attempt, and holds again", () => {
    const life = new RebalanceLife(mix, [[WETH, 10]]);
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    life.pause = undefined;
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["12000 DAI -> WBTC"]);
    expect(life.pause).toContain("12000 DAI");
    expect(life.remembered().owed).toEqual({ [DAI.address]: of(DAI, 12_000).toString() });
  });

  it("REB-21 goes on by itself where it shall retry", () => {
    const life = new RebalanceLife({ ...mix, trades: { ...mix.trades, onIncomplete: "retry" } }, [[WETH, 10]]);
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    expect(life.pause).toBeUndefined();
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["12000 DAI -> WBTC"]);
  });

  it("REB-21 is forgotten once its money is gone or has no use left", () => {
    const life = new RebalanceLife(mix, [[WETH, 10]]);
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    life.free.set(DAI, 0n);
    life.fails = () => undefined;
    expect(legsIn(life.pass(HOUR).decide())[0]).toMatch(/WETH -> DAI$/);
    expect(life.remembered().owed).toEqual({});
  });

  it.each([
    ["all of it", 12_000, []],
    ["a part of it", 7_000, ["5000 DAI -> WBTC"]],
    ["all but a little of it", 11_980, []],
  ] as const)("REB-21 waits while other swaps hold %s, and sells nothing meanwhile", (_name, held, first) => {
    const life = new RebalanceLife(mix, [[WETH, 10]]);
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    life.fails = () => undefined;
    life.reserved.set(DAI, of(DAI, held));
    if (first.length > 0) expect(legsIn(life.pass(HOUR).slot())).toEqual(first);
    expect(life.pass(HOUR).slot()).toEqual({
      kind: "skip",
      reason: "insufficient_balance",
      detail: expect.stringMatching(/ DAI that sells brought wait for buys, other swaps hold 1?[0-9]* DAI of them$/),
    });
    life.reserved.delete(DAI);
    const rest = first.length > 0 ? /^6999\.99[0-9]* DAI -> WBTC$/ : /^12000 DAI -> WBTC$/;
    expect(legsIn(life.pass(HOUR).slot())).toEqual([expect.stringMatching(rest)]);
    expect(life.remembered().owed).toEqual({});
    expect(life.done.filter(({ sell }) => sell === WETH)).toHaveLength(1);
  });

  it("REB-21 waits inside the slot's window where it trades at each slot", () => {
    const weekly = { ...mix, bands: "none" } as const;
    const life = new RebalanceLife(weekly, [[WETH, 10]]);
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    life.reserved.set(DAI, of(DAI, 12_000));
    expect(life.pass(HOUR).slot()).toMatchObject({ kind: "defer", reason: "insufficient_balance" });
  });

  it("REB-21 is forgotten once its money is gone, and not waited for because other swaps hold what is left", () => {
    const life = new RebalanceLife(mix, [[WETH, 10]]);
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    life.free.set(DAI, of(DAI, 20));
    life.reserved.set(DAI, of(DAI, 20));
    life.fails = () => undefined;
    expect(legsIn(life.pass(HOUR).decide())[0]).toMatch(/WETH -> DAI$/);
    expect(life.remembered().owed).toEqual({});
  });

  it("REB-21 does not wait for the gas reserve, which is never free", () => {
    const life = new RebalanceLife({ ...mix, trades: { ...mix.trades, via: ETH } }, [[WETH, 10]]);
    life.prices.set(ETH, "3000");
    life.fails = ({ buy }) => (buy === WBTC ? "quote_refused" : undefined);
    life.slot();
    expect(life.remembered().owed).not.toEqual({});
    life.free.set(ETH, of(ETH, 1));
    life.reserved.set(ETH, of(ETH, 1));
    life.fails = () => undefined;
    expect(legsIn(life.pass(HOUR).decide())[0]).toMatch(/WETH -> ETH$/);
  });

  it("REB-21 a sell that failed leaves nothing owed and nobody is called", () => {
    const life = new RebalanceLife(mix, [[WETH, 10]]);
    life.fails = ({ sell }) => (sell === WETH ? "quote_refused" : undefined);
    life.slot();
    expect([life.pause, life.remembered().owed]).toEqual([undefined, {}]);
  });
});

describe("deposits", () => {
  const mix = mixSpec([target(WETH, 50), target(WBTC, 25), target(USDC, 25)], { onDeposit: "buy-underweight" });

  it("REB-22 buy what is underweight with the new money alone, inside the bands", () => {
    const life = new RebalanceLife(mix, [
      [WETH, 2],
      [WBTC, "0.05"],
      [USDC, 3_000],
    ]);
    expect(reasonOf(life)).toBe("within_bands");
    life.free.set(USDC, of(USDC, 3_400));
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["200 USDC -> WETH", "100 USDC -> WBTC"]);
    expect(reasonOf(life.pass(HOUR))).toBe("within_bands");
    expect(life.remembered().fresh).toEqual({});
  });

  it("REB-22 are not what our own swaps brought, and withdrawals force no trade", () => {
    const life = new RebalanceLife(mix, [[WETH, 4]]);
    life.slot();
    expect(life.done).toHaveLength(2);
    expect(reasonOf(life.pass(HOUR))).toBe("within_bands");
    expect(life.remembered().fresh).toEqual({});
    life.free.set(USDC, (life.free.get(USDC) ?? 0n) - of(USDC, 300));
    expect(reasonOf(life.pass(HOUR))).toBe("within_bands");
  });

  it("REB-22 add up until they are worth a trade, also over failed runs", () => {
    const life = new RebalanceLife(mix, [
      [WETH, 2],
      [WBTC, "0.05"],
      [USDC, 3_000],
    ]);
    life.decide();
    const deposit = (): void => void life.free.set(USDC, (life.free.get(USDC) ?? 0n) + of(USDC, 60));
    deposit();
    expect(reasonOf(life.pass(HOUR))).toBe("within_bands");
    deposit();
    life.fails = () => "quote_unavailable";
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["60 USDC -> WETH"]);
    life.fails = () => undefined;
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["60 USDC -> WETH"]);
  });

  it("REB-22 are left alone where they shall be ignored", () => {
    const life = new RebalanceLife({ ...mix, onDeposit: "ignore" }, [
      [WETH, 2],
      [WBTC, "0.05"],
      [USDC, 3_000],
    ]);
    life.decide();
    life.free.set(USDC, of(USDC, 3_400));
    expect(reasonOf(life.pass(HOUR))).toBe("within_bands");
    expect(life.remembered().outside).toEqual({});
  });
});

describe("memory", () => {
  it("REB-23 of the first version is read as one that has seen nothing", () => {
    const seen = view({
      nowMs: START_MS,
      free: [[WETH, of(WETH, 1)]],
      prices: [
        [WETH, "3000"],
        [USDC, "1"],
      ],
    });
    expect(decideStrategy(mixSpec(halves), seen, { version: 1 }).outcome.kind).toBe("swap");
  });

  it.each([
    ["another version", { version: 3 }],
    ["an instant that is none", { doneMs: -1 }],
    ["turnover that is none", { turnover: [{ hourMs: 1, ppm: "2" }] }],
    ["an amount that is none", { owed: { a: "1.5" } }],
    ["a run without its legs", { run: { slotMs: 1, purpose: "mix", isCut: false, hole: "0", least: "1" } }],
  ])("REB-23 with %s is refused", (_name, change) => {
    const memory = { ...new RebalanceLife(timed, []).remembered(), ...change };
    expect(() => decideStrategy(timed, view({}), memory)).toThrow(/is none of a rebalance strategy/);
  });

  it("REB-24 goes on under an edited file, but other bands or targets are confirmed anew", () => {
    const life = holding(timed, 65);
    life.decide();
    const same = strategyEdited(timed, { ...timed, retryForSeconds: 7 }, life.memory);
    expect(same).toMatchObject({ softSinceMs: START_MS });
    const narrower = { ...timed, bands: { ...rules, soft: { ...rules.soft, forSeconds: 60 } } };
    expect(strategyEdited(timed, narrower, life.memory)).not.toMatchObject({ softSinceMs: START_MS });
    const owed = { ...life.remembered(), doneMs: 5, owed: { [DAI.address]: "7", [USDC.address]: "8" } };
    expect(strategyEdited(timed, narrower, owed)).toMatchObject({ doneMs: 5, owed: { [USDC.address]: "8" } });
    expect(strategyEdited(timed, narrower, owed)).toHaveProperty(["owed", DAI.address], "7");
  });
});
