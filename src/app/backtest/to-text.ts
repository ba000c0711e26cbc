import { formatTable } from "../terminal.ts";
import { assumptionsOf, UNKNOWN, warningsOf } from "./caveats.ts";
import { overallFigures, strategyFigures } from "./figures.ts";
import type { ToldBacktest } from "./told.ts";

/** A backtest for people, at a terminal. */
export function backtestText(told: ToldBacktest): string {
  const { summary } = told.result;
  const names = summary.strategies.map(({ strategyId }) => strategyId).join(", ");
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");
  const warnings = warningsOf(told);
  return [
    `backtest of ${names}`,
    formatTable(overallFigures(summary)),
    ...summary.strategies.map((figures) => `${figures.strategyId}\n${formatTable(strategyFigures(figures))}`),
    `assumed: ${assumptionsOf(told)}`,
    ...(warnings.length === 0 ? [] : [`to know:\n${list(warnings)}`]),
    `what a backtest cannot know:\n${list(UNKNOWN)}`,
  ].join("\n\n");
}
