import { describe, expect, it } from "vitest";
import { type Address, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { PlannedSwap } from "../../../src/domain/strategy/decision.ts";
import { resolvePlannedAmount } from "../../../src/domain/strategy/planned-amount.ts";
import { legsIn, mixSpec, percent, RebalanceLife, RULES, target } from "./rebalance-world.ts";
import { DAI, of, USDC, WBTC, WETH } from "./world.ts";

type Held = readonly (readonly [Token, number | string])[];

const points = { soft: { absolute: percent(5), relative: undefined } };
const half = mixSpec([target(WETH, 50, points), target(USDC, 50, points)]);
const three = [target(WETH, 40), target(WBTC, 40), target(USDC, 20)];
const ETH: Token = { symbol: "ETH", decimals: 18, address: NATIVE_TOKEN as Address };

function legs(spec: RebalanceLife["spec"], held: Held): readonly string[] {
  return legsIn(new RebalanceLife(spec, held).decide());
}

describe("bands", () => {
  it("REB-4 of points hold at their very edge and break just above it", () => {
    expect(
      legs(half, [
        [WETH, "0.55"],
        [USDC, 1_350],
      ]),
    ).toEqual(["within_bands"]);
    expect(
      legs(half, [
        [WETH, "0.551"],
        [USDC, 1_347],
      ]),
    ).toEqual(["0.051 WETH -> USDC"]);
  });

  it("REB-4 in relation to the target are narrower for a small weight", () => {
    const held: Held = [
      [WETH, 30],
      [WBTC, "0.11"],
      [USDC, 3_400],
    ];
    const mix = (soft: {
      absolute: ReturnType<typeof percent> | undefined;
      relative: ReturnType<typeof percent> | undefined;
    }) => mixSpec([target(WETH, 90, { soft }), target(WBTC, 5, { soft }), target(USDC, 5, { soft })]);
    expect(legs(mix({ absolute: percent(5), relative: undefined }), held)).toEqual(["within_bands"]);
    expect(legs(mix({ absolute: undefined, relative: percent(20) }), held)).toEqual(["0.02666666 WBTC -> USDC"]);
    expect(legs(mix({ absolute: undefined, relative: percent(40) }), held)).toEqual(["within_bands"]);
  });

  it("REB-5 with both measures break with any of them, or only with all", () => {
    const soft = { absolute: percent(5), relative: percent(20) };
    const mix = mixSpec([target(WETH, 50, { soft }), target(USDC, 50, { soft })]);
    const held: Held = [
      [WETH, "0.56"],
      [USDC, 1_320],
    ];
    expect(legs(mix, held)).toEqual(["0.06 WETH -> USDC"]);
    if (mix.bands === "none") throw new Error("expected bands");
    const all = { ...mix, bands: { ...mix.bands, trigger: "all" as const } };
    expect(legs(all, held)).toEqual(["within_bands"]);
    expect(
      legs(all, [
        [WETH, "0.61"],
        [USDC, 1_170],
      ]),
    ).toEqual(["0.11 WETH -> USDC"]);
  });

  it("REB-6 of one token stand in place of those of all", () => {
    const wide = target(WETH, 50, { soft: { absolute: percent(30), relative: undefined } });
    const held: Held = [
      [WETH, "0.7"],
      [USDC, 900],
    ];
    expect(legs(mixSpec([wide, target(USDC, 50, { soft: undefined })]), held)).toEqual(["within_bands"]);
    expect(legs(mixSpec([wide, target(USDC, 50, points)]), held)).toEqual(["0.2 WETH -> USDC"]);
  });

  it("REB-7 that are none trade at every slot, down to the smallest trade", () => {
    const calendar = { ...half, bands: "none" as const };
    expect(
      legs(calendar, [
        [WETH, "0.52"],
        [USDC, 1_440],
      ]),
    ).toEqual(["0.02 WETH -> USDC"]);
    expect(
      legs(calendar, [
        [WETH, "0.51"],
        [USDC, 1_470],
      ]),
    ).toEqual(["below_minimum_trade"]);
  });
});

describe("swaps", () => {
  it("REB-8 go from the largest overweight straight to the largest underweight, in as few legs as can be", () => {
    expect(legs(mixSpec(three), [[WETH, 10]])).toEqual(["4 WETH -> WBTC", "2 WETH -> USDC"]);
    const four = [target(WETH, 25), target(WBTC, 25), target(DAI, 25), target(USDC, 25)];
    expect(
      legs(mixSpec(four), [
        [WETH, 5],
        [DAI, 9_000],
      ]),
    ).toEqual(["2 WETH -> WBTC", "1 WETH -> USDC", "3000 DAI -> USDC"]);
  });

  it("REB-8 spend nothing of a unit of account that is no part of the mix", () => {
    const mix = mixSpec([target(WETH, 50), target(WBTC, 50)]);
    expect(
      legs(mix, [
        [WETH, 10],
        [USDC, 1_000_000],
      ]),
    ).toEqual(["5 WETH -> WBTC"]);
  });

  it("REB-9 below the minimum are left out, and a breach without a large enough one says so", () => {
    const tight = { soft: { absolute: percent(0), relative: undefined } };
    const mix = mixSpec([target(WETH, 50, tight), target(USDC, 50, tight)]);
    const life = new RebalanceLife(mix, [
      [WETH, 1],
      [USDC, 3_099],
    ]);
    expect(life.decide()).toEqual({
      kind: "skip",
      reason: "below_minimum_trade",
      detail: "WETH 49.1883% of 50%, USDC 50.8116% of 50%",
    });
    expect(
      legs(mix, [
        [WETH, 1],
        [USDC, 3_100],
      ]),
    ).toEqual(["50 USDC -> WETH"]);
  });

  it("REB-10 over a token sell first, and size the buys by what was measured", () => {
    const life = new RebalanceLife(mixSpec(three, { trades: { via: USDC } }), [[WETH, 10]]);
    const outcome = life.decide();
    if (outcome.kind !== "swap") throw new Error("expected swaps");
    expect(outcome.swaps).toMatchObject([
      { sell: WETH, buy: USDC, amount: { kind: "fixed", raw: of(WETH, 6) }, retryForSeconds: undefined },
      {
        ...{ sell: USDC, buy: WBTC, retryForSeconds: 21_600 },
        amount: { kind: "proceeds", of: [0], base: -of(USDC, 6_000) - 1n, max: of(USDC, 12_000), min: of(USDC, 25) },
      },
    ]);
    const buy = outcome.swaps[1] as PlannedSwap;
    expect(resolvePlannedAmount(buy.amount, () => of(USDC, 18_000))).toBe(of(USDC, 12_000) - 1n);
    expect(resolvePlannedAmount(buy.amount, () => of(USDC, 17_000))).toBe(of(USDC, 11_000) - 1n);
    expect(resolvePlannedAmount(buy.amount, () => of(USDC, 30_000))).toBe(of(USDC, 12_000));
    expect(resolvePlannedAmount(buy.amount, () => 0n)).toBeUndefined();
  });

  it("REB-10 pair by pair put each buy right behind the sell that pays for it", () => {
    const mix = mixSpec([target(WETH, 25), target(WBTC, 50), target(DAI, 25)], {
      trades: { via: USDC, order: "pair-by-pair" },
    });
    expect(legs(mix, [[WETH, 4]])).toEqual([
      ...["2 WETH -> USDC", "proceeds of 0: USDC -> WBTC", "1 WETH -> USDC", "proceeds of 2: USDC -> DAI"],
    ]);
  });

  it("REB-11 each have their own window behind the first, or a slow one would leave none to the next", () => {
    const outcome = new RebalanceLife(mixSpec(three), [[WETH, 10]]).decide();
    if (outcome.kind !== "swap") throw new Error("expected swaps");
    expect(outcome.swaps.map((swap) => swap.retryForSeconds)).toEqual([undefined, 30]);
  });
});

describe("money that is not traded", () => {
  it("REB-12 the cash floor is set aside before anything is weighed, and is bought back when it is missing", () => {
    const cash = { token: USDC, min: of(USDC, 1_000) };
    const mix = { ...half, cash };
    expect(
      legs(mix, [
        [WETH, 1],
        [USDC, 4_000],
      ]),
    ).toEqual(["within_bands"]);
    expect(
      legs(mix, [
        [WETH, 1],
        [USDC, 5_000],
      ]),
    ).toEqual(["500 USDC -> WETH"]);
    expect(legs(mix, [[WETH, 1]])).toEqual([`${2 / 3} WETH -> USDC`]);
    const floorOnly = new RebalanceLife(mix, [[USDC, 1_000]]);
    expect(floorOnly.decide()).toMatchObject({ reason: "insufficient_balance" });
  });

  it.each([
    ["as much as the mix is worth", 5, 5_000, "5 WETH -> USDC"],
    ["more than the mix is worth", 3, 10_000, "3 WETH -> USDC"],
  ])("REB-12 sells what there is where the cash that is missing is %s", (_name, ether, dollars, sold) => {
    for (const destination of [{ to: "target" }, { to: "edge", inward: percent(15) }] as const) {
      const spec = { ...half, destination, cash: { token: USDC, min: of(USDC, 20_000) } };
      const life = new RebalanceLife(spec, [
        [WETH, ether],
        [USDC, dollars],
      ]);
      expect(legsIn(life.slot())).toEqual([sold]);
      expect(life.slot()).toMatchObject({ reason: "insufficient_balance" });
    }
  });

  it("REB-12 says what is missing of the cash where nothing can be sold for it", () => {
    const mix = { ...half, cash: { token: USDC, min: of(USDC, 20_000) } };
    const short = (ether: string, change: Partial<typeof mix> = {}) =>
      new RebalanceLife({ ...mix, ...change }, [
        [WETH, ether],
        [USDC, 10_000],
      ]).decide();
    expect(short("0")).toEqual({
      ...{ kind: "skip", reason: "insufficient_balance" },
      detail: "none of the tokens of the mix has a free balance, besides cash.min",
    });
    const little = "more USDC of the cash is missing than the mix is worth: WETH 0.3% of it";
    expect(short("0.01")).toEqual({ kind: "skip", reason: "below_minimum_trade", detail: little });
    const rules = { ...RULES, soft: { forSeconds: 3_600, cooldownSeconds: 0 } };
    expect(short("3", { bands: rules })).toMatchObject({
      reason: "confirming",
      detail: expect.stringContaining("1h are left; more USDC of the cash is missing"),
    });
  });

  it("REB-12 what a buy of missing cash lost on its way over another token is bought for first", () => {
    const cash = { token: USDC, min: of(USDC, 20_000) };
    const life = new RebalanceLife({ ...half, cash, trades: { ...half.trades, via: DAI } }, [[WETH, 3]]);
    life.fails = ({ buy }) => (buy === USDC ? "quote_refused" : undefined);
    expect(legsIn(life.slot())[0]).toBe("3 WETH -> DAI");
    life.fails = () => undefined;
    expect(legsIn(life.slot())).toEqual(["9000 DAI -> USDC"]);
    expect(life.slot()).toMatchObject({ reason: "insufficient_balance" });
  });

  it("REB-13 of the native coin the gas of the run's own transactions stays besides the reserve", () => {
    const out = target(ETH, 0, { exit: true, soft: undefined });
    const life = new RebalanceLife(mixSpec([out, target(USDC, 100)]), [[ETH, 1]]);
    life.prices.set(ETH, "3000");
    const gas = 2_000_000n * life.spec.limits.maxFeePerGas;
    expect(life.slot()).toMatchObject({ swaps: [{ sell: ETH, amount: { raw: of(ETH, 1) - gas } }] });
    expect(life.slot()).toMatchObject({ kind: "skip", reason: "within_bands" });
  });

  it("REB-14 a token that is left is sold to its last unit, whatever the destination, and dust of it breaks no band", () => {
    const out = target(DAI, 0, { exit: true, soft: undefined });
    const mix = mixSpec([out, target(WETH, 50), target(USDC, 50)], {
      destination: { to: "edge", inward: percent(15) },
    });
    const life = new RebalanceLife(mix, [
      [DAI, "100.000000000000000001"],
      [WETH, 1],
      [USDC, 3_000],
    ]);
    life.slot();
    expect(life.free.get(DAI)).toBe(0n);
    expect(
      legs(mix, [
        [DAI, 49],
        [WETH, 1],
        [USDC, 3_000],
      ]),
    ).toEqual(["within_bands"]);
  });
});

describe("the destination", () => {
  it("REB-15 edge brings back only what left its band, to a margin inside its edge", () => {
    const mix = mixSpec([target(WETH, 50), target(WBTC, 25), target(USDC, 25)], {
      destination: { to: "edge", inward: percent(25) },
    });
    const life = new RebalanceLife(mix, [
      [WETH, 2],
      [WBTC, "0.035"],
      [USDC, 1_900],
    ]);
    expect(life.weight(WETH)).toBe(600_000);
    life.prices.set(WETH, "3300");
    life.slot();
    expect(life.weight(WETH)).toBe(574_999);
    expect(life.slot()).toMatchObject({ reason: "within_bands" });
    expect(new Set(life.done.map(({ sell }) => sell))).toEqual(new Set([WETH]));
  });

  it("REB-15 fraction goes a share of the way", () => {
    const mix = { ...half, destination: { to: "fraction", share: percent(50) } as const };
    expect(
      legs(mix, [
        [WETH, 2],
        [USDC, 2_000],
      ]),
    ).toEqual([`${1 / 3} WETH -> USDC`]);
  });
});

describe("nothing is done", () => {
  it("REB-3 while any token of the mix, the unit of account or the token in between has no price", () => {
    for (const missing of [WETH, USDC, DAI]) {
      const life = new RebalanceLife({ ...half, trades: { ...half.trades, via: DAI } }, [[WETH, 10]]);
      life.prices.delete(missing);
      const detail = `no reference price for ${missing.symbol}`;
      expect(life.decide()).toEqual({ kind: "skip", reason: "unpriceable", detail });
      life.prices.set(missing, "0");
      expect(life.decide()).toMatchObject({ reason: "unpriceable" });
      life.spec = { ...life.spec, bands: "none" };
      expect(life.decide()).toEqual({ kind: "defer", reason: "unpriceable", detail });
    }
  });

  it("REB-2 with an empty wallet, and on target", () => {
    expect(legs(half, [])).toEqual(["insufficient_balance"]);
    expect(
      new RebalanceLife(half, [
        [WETH, 1],
        [USDC, 3_000],
      ]).decide(),
    ).toEqual({
      kind: "skip",
      reason: "within_bands",
      detail: "WETH 50% of 50%, USDC 50% of 50%",
    });
  });
});
