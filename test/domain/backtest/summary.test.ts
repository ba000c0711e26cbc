import { describe, expect, it } from "vitest";
import { accumulationOf } from "../../../src/domain/backtest/baselines.ts";
import { closedTrades, tradeFigures } from "../../../src/domain/backtest/closed-trades.ts";
import type { RecordedFill } from "../../../src/domain/backtest/record.ts";
import { dayReturns, deepestFall, ratiosOf } from "../../../src/domain/backtest/returns.ts";
import { summarise } from "../../../src/domain/backtest/summary.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";

const DAY = 86_400_000;
const E18 = 10n ** 18n;
const samplesOf = (values: readonly number[]) =>
  values.map((value, index) => ({ atMs: index * DAY, value: BigInt(value) * E18, held: 0n }));

describe("returns", () => {
  it("are of whole days, and the deepest fall says when it was over", () => {
    const samples = samplesOf([100, 110, 88, 99, 120]);
    expect(dayReturns(samples).map(({ share }) => share)).toEqual([0.1, -0.2, 0.125, expect.closeTo(0.2121, 4)]);
    expect(deepestFall(samples)).toEqual({
      ...{ share: 0.2, amount: 22n * E18, highMs: DAY, lowMs: 2 * DAY, recoveredMs: 4 * DAY },
    });
    expect(deepestFall(samplesOf([1, 2, 3]))).toBeUndefined();
  });

  it("make no ratios of a few days, nor of losses that hardly happened", () => {
    const few = samplesOf([100, 110, 88]);
    const none = { cagr: undefined, sharpe: undefined, sortino: undefined, calmar: undefined };
    expect(ratiosOf(few, dayReturns(few), deepestFall(few))).toEqual(none);
    const rising = samplesOf(Array.from({ length: 40 }, (_, index) => 1_000 + index * index));
    const ratios = ratiosOf(rising, dayReturns(rising), deepestFall(rising));
    expect(ratios).toMatchObject({ sortino: undefined, calmar: undefined });
    expect(ratios.sharpe).toBeGreaterThan(0);
  });

  it("are of days alone: what passed in a week, or in a gap of the prices, is the result of no day", () => {
    const weekly = Array.from({ length: 60 }, (_, index) => ({
      ...{ atMs: index * 7 * DAY, value: BigInt(1_000 + 10 * (index % 2)) * E18, held: 0n },
    }));
    expect(dayReturns(weekly)).toEqual([]);
    const { sharpe, sortino, cagr } = ratiosOf(weekly, dayReturns(weekly), deepestFall(weekly));
    expect([sharpe, sortino]).toEqual([undefined, undefined]);
    expect(cagr).toBeCloseTo(1.01 ** (365 / 413) - 1, 9);
    const toTheEnd = [...weekly.slice(0, 5), { atMs: 30 * DAY - 1, value: 2_000n * E18, held: 0n }];
    expect(ratiosOf(toTheEnd, dayReturns(toTheEnd), undefined).cagr).toBeGreaterThan(1);
    const gappy = samplesOf([100, 110, 88, 99, 120]).filter((_, index) => index !== 2);
    expect(dayReturns(gappy).map(({ atMs }) => atMs)).toEqual([0, 3 * DAY]);
  });

  it("are of days that have a price at their end: not of a part of a day, before a gap or before the backtest ends", () => {
    const hourly = (hours: number, without: (hour: number) => boolean = () => false) =>
      [...Array.from({ length: hours }, (_, hour) => hour), hours - 1 / 3_600_000]
        .filter((hour) => !without(hour))
        .map((hour) => ({ atMs: hour * 3_600_000, value: BigInt(1_000 + Math.floor(hour)) * E18, held: 0n }));
    const daysOf = (samples: ReturnType<typeof hourly>) => dayReturns(samples).map(({ atMs }) => atMs / DAY);
    expect(daysOf(hourly(72))).toEqual([0, 1, 2]);
    expect(daysOf(hourly(72 + 1)), "an hour of the fourth day").toEqual([0, 1, 2]);
    const gap = (hour: number) => hour > 30 && hour < 60;
    expect(daysOf(hourly(96, gap)), "from the second day at 06:00 to the third at 12:00").toEqual([0, 3]);
    const daily = [0, 1, 2, 2.5].map((day) => ({ atMs: day * DAY, value: BigInt(9 + day * 2) * E18, held: 0n }));
    expect(daysOf(daily), "half of the third day").toEqual([0, 1]);
  });

  it("are annualised over 365 days, by hand", () => {
    const values: number[] = Array.from({ length: 366 }, (_, index) => (index % 2 === 0 ? 1_000 : 1_010));
    values[365] = 1_210;
    const samples = samplesOf(values);
    const { cagr, sharpe } = ratiosOf(samples, dayReturns(samples), deepestFall(samples));
    expect(cagr).toBeCloseTo(0.21, 9);
    const shares = values.slice(1).map((value, index) => value / (values[index] ?? 1) - 1);
    const mean = shares.reduce((sum, one) => sum + one, 0) / shares.length;
    const deviation = Math.sqrt(shares.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (shares.length - 1));
    expect(sharpe).toBeCloseTo((mean / deviation) * Math.sqrt(365), 9);
  });
});

const USDC = { symbol: "USDC", address: toAddress(`0x${"1".repeat(40)}`), decimals: 6 };
const WETH = { symbol: "WETH", address: toAddress(`0x${"2".repeat(40)}`), decimals: 18 };

function fill(side: "buy" | "sell", weth: bigint, usd: bigint): RecordedFill {
  const [sell, buy] = side === "buy" ? [USDC, WETH] : [WETH, USDC];
  const [sold, bought] = side === "buy" ? [usd * 10n ** 6n, weth] : [weth, usd * 10n ** 6n];
  const value = usd * E18;
  return {
    ...{ atMs: 0, strategyId: "a", sell, buy, sold, bought, soldUsd: value, boughtUsd: value },
    ...{ affiliateUsd: 0n, feeUsd: 0n, gasUsd: E18 },
    isExit: side === "sell",
  };
}

describe("closed trades", () => {
  it("are sales for money at the average cost, gas on both sides", () => {
    const trades = closedTrades(
      [fill("buy", E18, 1_000n), fill("buy", E18, 3_000n), fill("sell", E18, 2_500n)],
      new Map(),
    );
    // two cost 4,002 with their gas, one of them 2,001; 2,500 less 1 came in
    expect(trades).toEqual([{ atMs: 0, symbol: "WETH", cost: 2_001n * E18, profit: 498n * E18 }]);
  });

  it("count what was there at the beginning at its value then, and nothing for what was never there", () => {
    const begin = new Map<Address, { raw: bigint; usd: bigint }>([
      [WETH.address, { raw: 2n * E18, usd: 5_000n * E18 }],
    ]);
    expect(closedTrades([fill("sell", E18, 2_500n)], begin)[0]?.profit).toBe(-E18);
    expect(closedTrades([fill("sell", E18, 2_500n)], new Map())).toEqual([]);
  });

  it("make no statistics below ten, and no profit factor without a loss", () => {
    const won = { atMs: 0, symbol: "WETH", cost: 100n * E18, profit: 10n * E18 };
    const lost = { ...won, profit: -5n * E18 };
    expect(tradeFigures(Array.from({ length: 9 }, () => won))).toMatchObject({
      wins: 9,
      expectancy: undefined,
      sqn: undefined,
    });
    expect(tradeFigures(Array.from({ length: 12 }, () => won)).profitFactor).toBeUndefined();
    const mixed = tradeFigures([...Array.from({ length: 8 }, () => won), ...Array.from({ length: 4 }, () => lost)]);
    expect(mixed).toMatchObject({ wins: 8, losses: 4, profitFactor: 4, expectancy: 5, expectancyRatio: 1 });
  });
});

describe("what else the money could have bought", () => {
  const at = (index: number, price: bigint) => ({ atMs: index, price: price * E18 });
  const prices = [at(0, 1_000n), at(1, 2_000n), at(2, 4_000n), at(3, 2_000n)];

  it("is counted for the sum that was spent, less the pool's fee", () => {
    const found = accumulationOf("a", [fill("buy", E18, 1_000n), fill("buy", E18, 1_000n)], {
      prices,
      poolFee: toPpm(10_000),
    });
    expect(found).toMatchObject({
      sold: 2_000n * 10n ** 6n,
      own: { bought: 2n * E18, averagePrice: 1_000n * E18 },
      lumpSum: { bought: (198n * E18) / 100n },
      equalSplit: { bought: 1_113_750_000_000_000_000n },
    });
  });

  it("is nothing for who sold too, or bought two tokens", () => {
    const terms = { prices, poolFee: toPpm(0) };
    expect(accumulationOf("a", [fill("buy", E18, 1n), fill("sell", E18, 1n)], terms)).toBeUndefined();
    expect(accumulationOf("a", [], terms)).toBeUndefined();
  });
});

describe("a summary", () => {
  it("counts costs by value, and slots that saw no weights in no share of time inside the bands", () => {
    const fills = [
      { ...fill("buy", E18, 1_000n), boughtUsd: 990n * E18, feeUsd: 3n * E18 },
      { ...fill("buy", E18, 3_000n), boughtUsd: 2_998n * E18, feeUsd: 1n * E18 },
      // 30 of 3,000 dollars to the affiliate, and nothing else is lost
      { ...fill("buy", E18, 3_000n), boughtUsd: 2_970n * E18, affiliateUsd: 30n * E18 },
    ];
    const byEnd = new Map([
      ["filled", 2],
      ["within_bands", 6],
      ["DAILY_CAP_EXCEEDED", 2],
      ["paused", 5],
      ["unpriceable", 1],
    ]);
    const record = {
      ...{ fromMs: 0, untilMs: 4 * DAY, samples: samplesOf([100, 110, 88, 99, 120]), fills, slotPrices: new Map() },
      slots: new Map([
        ["a", { slots: 16, byEnd, hasBands: true }],
        ["never inside", { slots: 4, byEnd: new Map([["filled", 4]]), hasBands: true }],
        ["blind", { slots: 4, byEnd: new Map([["paused", 4]]), hasBands: true }],
        ["no bands", { slots: 4, byEnd: new Map([["filled", 4]]), hasBands: false }],
      ]),
    };
    const summary = summarise(record, { begin: new Map(), poolFee: toPpm(3_000), hasMoney: true });
    expect(summary).toMatchObject({
      starting: 100n * E18,
      final: 120n * E18,
      profitShare: 0.2,
      marketShare: -1,
      fills: 3,
    });
    expect(summary.costs).toEqual({
      ...{ volume: 7_000n * E18, affiliate: 30n * E18, fees: 4n * E18, impact: 8n * E18, gas: 3n * E18 },
      // 42 of 7,000 dollars; the middle of 100 bp, 100 bp and 6.66 bp
      ...{ againstReferencePpm: -6_000n, medianPpm: -10_000n },
    });
    expect(summary.strategies[0]).toMatchObject({ strategyId: "a", insideBands: 0.6, accumulation: undefined });
    expect(summary.strategies.slice(1).map(({ insideBands }) => insideBands)).toEqual([0, undefined, undefined]);
  });
});
