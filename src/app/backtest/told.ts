import type { Configuration } from "../../config/configuration.ts";
import type { ReadOptions } from "./options.ts";
import type { PriceSet } from "./price-files.ts";
import type { BacktestResult } from "./run-backtest.ts";

/** A backtest with what it was made of, as it is told. */
export interface ToldBacktest {
  readonly configuration: Configuration;
  readonly prices: PriceSet;
  readonly options: ReadOptions;
  readonly result: BacktestResult;
}
