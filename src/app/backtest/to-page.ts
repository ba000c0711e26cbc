import type { RecordedFill } from "../../domain/backtest/record.ts";
import { linePlot, type PlotPoint, type PlotSeries } from "../html/line-plot.ts";
import { escapeHtml, listOf, pageOf, tableOf } from "../html/markup.ts";
import { assumptionsOf, UNKNOWN, warningsOf } from "./caveats.ts";
import { overallFigures, strategyFigures } from "./figures.ts";
import type { ToldBacktest } from "./told.ts";

const USD = 1e18;

/** For a picture; nothing is computed from it. */
const numberOf = (usd: bigint): number => Number(usd) / USD;

const dollars = (value: number): string =>
  Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(4);
const percents = (value: number): string => `${value.toFixed(1)} %`;

/** The report of a backtest: one file, no script, nothing from elsewhere. */
export function backtestPage(told: ToldBacktest): string {
  const { summary, record } = told.result;
  const names = summary.strategies.map(({ strategyId }) => strategyId).join(", ");
  const title = `Backtest of ${names}`;
  const warnings = warningsOf(told);
  const value: PlotSeries = {
    ...{ name: "with the strategy", colour: "--one", as: "line" },
    points: record.samples.map(({ atMs, value: usd }) => ({ atMs, value: numberOf(usd) })),
  };
  const held: PlotSeries = {
    ...{ name: "nothing traded", colour: "--two", as: "line" },
    points: record.samples.map(({ atMs, held: usd }) => ({ atMs, value: numberOf(usd) })),
  };
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<p>${escapeHtml(assumptionsOf(told))}</p>`,
    linePlot("Value in dollars", [held, value], dollars),
    linePlot(
      "Below its high",
      [{ name: "drawdown", colour: "--down", as: "area", points: falls(value.points) }],
      percents,
    ),
    `<section><h2>In all</h2>${tableOf(overallFigures(summary))}</section>`,
    ...summary.strategies.map((figures) => {
      const fills = record.fills.filter(({ strategyId }) => strategyId === figures.strategyId);
      return `<section><h2>${escapeHtml(figures.strategyId)}</h2>${pricePlots(told, fills)}${tableOf(strategyFigures(figures))}</section>`;
    }),
    ...(warnings.length === 0 ? [] : [`<h2>To know</h2>${listOf(warnings)}`]),
    `<h2>What a backtest cannot know</h2>${listOf(UNKNOWN)}`,
  ];
  return pageOf(title, body.join("\n"));
}

function falls(points: readonly PlotPoint[]): readonly PlotPoint[] {
  let high = 0;
  return points.map(({ atMs, value }) => {
    high = Math.max(high, value);
    return { atMs, value: high === 0 ? 0 : ((value - high) / high) * 100 };
  });
}

/** Each token that was bought or sold for money, with its fills drawn in at the price that they got. */
function pricePlots({ prices, result }: ToldBacktest, fills: readonly RecordedFill[]): string {
  const { fromMs, untilMs } = result.record;
  const tokens = new Map(fills.flatMap(({ sell, buy }) => [sell, buy]).map((token) => [token.address, token]));
  return [...tokens.values()]
    .map(({ address, symbol, decimals }) => {
      const candles = prices.series.get(address)?.candles ?? [];
      const points = candles
        .filter(({ atMs }) => atMs >= fromMs && atMs < untilMs)
        .map(({ atMs, open }) => ({ atMs, value: numberOf(open) }));
      if (points.length < 2) return "";
      const whole = (raw: bigint): number => Number(raw) / 10 ** decimals;
      const bought = fills.flatMap(({ atMs, buy, bought: raw, soldUsd }) =>
        buy.address === address ? [{ atMs, value: numberOf(soldUsd) / whole(raw) }] : [],
      );
      const sold = fills.flatMap(({ atMs, sell, sold: raw, boughtUsd }) =>
        sell.address === address ? [{ atMs, value: numberOf(boughtUsd) / whole(raw) }] : [],
      );
      return linePlot(
        `${symbol} in dollars`,
        [
          { name: "reference", colour: "--two", as: "line", points },
          { name: `${bought.length} bought`, colour: "--up", as: "up", points: bought },
          { name: `${sold.length} sold`, colour: "--down", as: "down", points: sold },
        ],
        dollars,
      );
    })
    .join("\n");
}
