import type { Accumulation, Purchase } from "../../domain/backtest/baselines.ts";
import { type ClosedTrade, LEAST_TRADES } from "../../domain/backtest/closed-trades.ts";
import { type DayReturn, LEAST_DAYS } from "../../domain/backtest/returns.ts";
import type { BacktestSummary, Costs, StrategyFigures } from "../../domain/backtest/summary.ts";
import { describeAmount, describeDollars, roundedUnits } from "../../domain/money/for-people.ts";
import { formatInstant } from "../terminal.ts";

/** A line of a summary: what it is, and how much. */
export type Figure = readonly [string, string];

const THIN_DAYS = `left out: needs ${LEAST_DAYS} days`;
const NO_DAYS = `left out: fewer than ${LEAST_DAYS} days have a price at their end and at the end of the day before`;
const THIN_TRADES = `left out: needs ${LEAST_TRADES} sales`;

/** A share as people read it. */
const percent = (share: number): string => `${share < 0 ? "-" : ""}${Math.abs(share * 100).toFixed(2)} %`;

/** Basis points of parts per million. */
const bps = (ppm: bigint | undefined): string =>
  ppm === undefined ? "no fills" : `${(Number(ppm) / 100).toFixed(1)} bp`;

const ratio = (value: number | undefined, missing: string): string => value?.toFixed(2) ?? missing;
const day = (atMs: number): string => formatInstant(atMs).slice(0, 10);
const instant = (atMs: number): string => formatInstant(atMs).slice(0, 16).replace("T", " ");

/** The figures of all strategies together. */
export function overallFigures(summary: BacktestSummary): readonly Figure[] {
  const { fall, days } = summary;
  const noDays = days < LEAST_DAYS ? THIN_DAYS : noDaysOf(summary);
  const noLosses = summary.sharpe === undefined ? noDays : "left out: too few losing days";
  const noFall = days < LEAST_DAYS ? THIN_DAYS : "left out: it never fell";
  return [
    ["from", `${instant(summary.fromMs)} UTC`],
    ["to", `${instant(summary.untilMs)} UTC (${days.toFixed(1)} days)`],
    ["starting balance", describeDollars(summary.starting)],
    ["final balance", describeDollars(summary.final)],
    ["absolute profit", describeDollars(summary.profit)],
    ["total profit", percent(summary.profitShare)],
    ["market change (nothing traded)", percent(summary.marketShare)],
    ["CAGR", summary.cagr === undefined ? THIN_DAYS : percent(summary.cagr)],
    ["Sharpe", ratio(summary.sharpe, noDays)],
    ["Sortino", ratio(summary.sortino, noLosses)],
    ["Calmar", ratio(summary.calmar, noFall)],
    ["deepest drawdown", fall === undefined ? "none" : `${percent(fall.share)}, ${describeDollars(fall.amount)}`],
    ...(fall === undefined ? [] : [["underwater", underwater(fall)] as const]),
    ["best day", dayOf(summary.bestDay)],
    ["worst day", dayOf(summary.worstDay)],
    ["days won / lost", `${summary.winningDays} / ${summary.losingDays}`],
    ["fills", `${summary.fills} (${(summary.fills / Math.max(days, 1 / 24)).toFixed(2)} a day)`],
    ...costFigures(summary.costs),
    ...tradeLines(summary),
  ];
}

function noDaysOf({ bestDay, winningDays, losingDays }: BacktestSummary): string {
  return bestDay !== undefined && winningDays + losingDays === 0 ? "left out: it never moved" : NO_DAYS;
}

function underwater({ highMs, lowMs, recoveredMs }: NonNullable<BacktestSummary["fall"]>): string {
  const end = recoveredMs === undefined ? "not recovered" : `recovered ${day(recoveredMs)}`;
  return `high ${day(highMs)}, low ${day(lowMs)}, ${end}`;
}

function dayOf(found: DayReturn | undefined): string {
  return found === undefined
    ? "no whole day"
    : `${percent(found.share)}, ${describeDollars(found.change)} (${day(found.atMs)})`;
}

function costFigures(costs: Costs): readonly Figure[] {
  return [
    ["volume", describeDollars(costs.volume)],
    ["fills against reference", `${bps(costs.againstReferencePpm)} by value, median ${bps(costs.medianPpm)}`],
    ...(costs.affiliate === 0n ? [] : [["affiliate's share", describeDollars(costs.affiliate)] as const]),
    ["pool fees", describeDollars(costs.fees)],
    ["impact, pools off the reference", describeDollars(costs.impact)],
    ["gas", describeDollars(costs.gas)],
  ];
}

function tradeLines({ trades, hasMoney }: BacktestSummary): readonly Figure[] {
  const { count, wins, draws, losses, profit } = trades;
  if (!hasMoney) return [["sales for money", "left out: no token is marked as money, by `peg: USD`"]];
  if (count === 0) return [["sales for money", "none: nothing was bought and sold again"]];
  const noLoss = count < LEAST_TRADES ? THIN_TRADES : "left out: no sale lost";
  return [
    ["sales for money", `${count}: ${wins} won, ${draws} even, ${losses} lost`],
    ["realised at average cost", describeDollars(profit)],
    ["best / worst sale", `${tradeOf(trades.best)} / ${tradeOf(trades.worst)}`],
    ["profit factor", ratio(trades.profitFactor, noLoss)],
    ["expectancy", trades.expectancy === undefined ? THIN_TRADES : expectancyOf(trades)],
    ["SQN", ratio(trades.sqn, THIN_TRADES)],
  ];
}

function expectancyOf({ expectancy = 0, expectancyRatio }: BacktestSummary["trades"]): string {
  const of = expectancyRatio === undefined ? "no sale lost" : `${expectancyRatio.toFixed(2)} of an average loss`;
  return `${expectancy.toFixed(2)} USD a sale (${of})`;
}

function tradeOf(trade: ClosedTrade | undefined): string {
  return trade === undefined ? "none" : `${percent(Number(trade.profit) / Number(trade.cost))} ${trade.symbol}`;
}

/** The figures of one strategy. */
export function strategyFigures(figures: StrategyFigures): readonly Figure[] {
  const ends = [...figures.byEnd].sort(([, one], [, other]) => other - one);
  const share = (count: number): string => percent(count / Math.max(figures.slots, 1));
  return [
    ["slots", String(figures.slots)],
    ...ends.map(([end, count]): Figure => [`  ${end}`, `${count} (${share(count)})`]),
    ...(figures.insideBands === undefined ? [] : [["time inside bands", percent(figures.insideBands)] as const]),
    ["fills", String(figures.fills)],
    ...(figures.fills === 0 ? [] : costFigures(figures.costs)),
    ...(figures.accumulation === undefined ? [] : accumulationFigures(figures.accumulation)),
  ];
}

/** What was bought, beside the same money at once and in equal parts. */
function accumulationFigures(accumulation: Accumulation): readonly Figure[] {
  const { sell, buy, sold, own } = accumulation;
  const line = ({ bought, averagePrice }: Purchase): string => {
    const more = own.bought === 0n ? 0 : Number(bought - own.bought) / Number(own.bought);
    const beside = bought === own.bought ? "" : `, ${percent(Math.abs(more))} ${more > 0 ? "more" : "less"}`;
    return `${describeAmount(bought, buy)} at ${roundedUnits(averagePrice, 18)} ${sell.symbol}${beside}`;
  };
  return [
    ["spent", describeAmount(sold, sell)],
    ["bought", line(own)],
    ["  as a lump sum at the first slot", line(accumulation.lumpSum)],
    ["  in equal parts at every slot", line(accumulation.equalSplit)],
  ];
}
