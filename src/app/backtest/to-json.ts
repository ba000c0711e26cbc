import type { Purchase } from "../../domain/backtest/baselines.ts";
import type { RecordedFill } from "../../domain/backtest/record.ts";
import type { Costs, StrategyFigures } from "../../domain/backtest/summary.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import { formatInstant } from "../terminal.ts";
import { assumptionsOf, UNKNOWN, warningsOf } from "./caveats.ts";
import type { PlayedSlot } from "./collector.ts";
import type { ToldBacktest } from "./told.ts";

const dollars = (usd: bigint): string => formatUnits(usd, USD_DECIMALS);
const orNull = (value: number | undefined): number | null => value ?? null;
const bpsOrNull = (ppm: bigint | undefined): number | null => (ppm === undefined ? null : Number(ppm) / 100);

/** The same as one JSON document: amounts as strings, ratios as numbers, null where there is too little data. */
export function backtestJson(told: ToldBacktest): object {
  const { summary, record, played } = told.result;
  const { fall, trades } = summary;
  return {
    ...{ from: formatInstant(summary.fromMs), until: formatInstant(summary.untilMs), days: summary.days },
    ...{ startingUsd: dollars(summary.starting), finalUsd: dollars(summary.final), profitUsd: dollars(summary.profit) },
    ...{ profit: summary.profitShare, marketChange: summary.marketShare },
    ...{ cagr: orNull(summary.cagr), sharpe: orNull(summary.sharpe), sortino: orNull(summary.sortino) },
    calmar: orNull(summary.calmar),
    drawdown: fall && {
      share: fall.share,
      usd: dollars(fall.amount),
      high: formatInstant(fall.highMs),
      low: formatInstant(fall.lowMs),
    },
    bestDay: summary.bestDay && { day: formatInstant(summary.bestDay.atMs), share: summary.bestDay.share },
    worstDay: summary.worstDay && { day: formatInstant(summary.worstDay.atMs), share: summary.worstDay.share },
    ...{ winningDays: summary.winningDays, losingDays: summary.losingDays },
    costs: costsJson(summary.costs),
    sales: summary.hasMoney
      ? {
          ...{ count: trades.count, wins: trades.wins, draws: trades.draws, losses: trades.losses },
          ...{ profitUsd: dollars(trades.profit), profitFactor: orNull(trades.profitFactor), sqn: orNull(trades.sqn) },
          ...{ expectancyUsd: orNull(trades.expectancy), expectancyRatio: orNull(trades.expectancyRatio) },
        }
      : null,
    strategies: summary.strategies.map(strategyJson),
    fills: record.fills.map(fillJson),
    ...(played.length === 0 ? {} : { slots: played.map(slotJson) }),
    assumed: assumptionsOf(told),
    warnings: warningsOf(told),
    unknown: UNKNOWN,
  };
}

function costsJson(costs: Costs): object {
  return {
    ...{ volumeUsd: dollars(costs.volume), affiliateUsd: dollars(costs.affiliate) },
    ...{ feesUsd: dollars(costs.fees), impactUsd: dollars(costs.impact), gasUsd: dollars(costs.gas) },
    againstReferenceBps: bpsOrNull(costs.againstReferencePpm),
    medianBps: bpsOrNull(costs.medianPpm),
  };
}

function strategyJson(figures: StrategyFigures): object {
  const { accumulation } = figures;
  const purchase = ({ bought, averagePrice }: Purchase) => ({
    ...{ bought: bought.toString(), averagePrice: formatUnits(averagePrice, 18) },
  });
  return {
    ...{ strategy: figures.strategyId, slots: figures.slots, ends: Object.fromEntries(figures.byEnd) },
    ...{ fills: figures.fills, insideBands: orNull(figures.insideBands), costs: costsJson(figures.costs) },
    accumulation: accumulation && {
      ...{ sell: accumulation.sell.symbol, buy: accumulation.buy.symbol, sold: accumulation.sold.toString() },
      ...{ own: purchase(accumulation.own), lumpSum: purchase(accumulation.lumpSum) },
      equalSplit: purchase(accumulation.equalSplit),
    },
  };
}

function fillJson(fill: RecordedFill): object {
  return {
    ...{ at: formatInstant(fill.atMs), strategy: fill.strategyId, sell: fill.sell.symbol, buy: fill.buy.symbol },
    ...{ sold: fill.sold.toString(), bought: fill.bought.toString() },
    ...{ soldUsd: dollars(fill.soldUsd), boughtUsd: dollars(fill.boughtUsd), gasUsd: dollars(fill.gasUsd) },
  };
}

/** In the words of `swapd history --json`. */
function slotJson({ strategyId, slotMs, state, reason, swaps }: PlayedSlot): object {
  return {
    ...{ strategy: strategyId, slot: formatInstant(slotMs), state, reason: reason ?? null },
    swaps: swaps.map((swap) => ({
      ...{ state: swap.state, reason: swap.reason ?? null, sell: swap.sell.symbol, buy: swap.buy.symbol },
      ...{ sold: swap.fill?.sold.toString() ?? null, bought: swap.fill?.bought.toString() ?? null },
      amount: swap.gross?.toString() ?? null,
    })),
  };
}
