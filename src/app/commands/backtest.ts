import { existsSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Configuration } from "../../config/configuration.ts";
import { formatProblems } from "../../config/problem.ts";
import { tradedTokens } from "../../domain/strategy/strategy.ts";
import { instantOf, readBacktestOptions, spanOf } from "../backtest/options.ts";
import { type PriceSet, type ReadySeries, readPrices } from "../backtest/price-files.ts";
import { readPool } from "../backtest/read-pool.ts";
import { type BacktestResult, runBacktest } from "../backtest/run-backtest.ts";
import { backtestJson } from "../backtest/to-json.ts";
import { backtestPage } from "../backtest/to-page.ts";
import { backtestText } from "../backtest/to-text.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { openChain } from "../open-chain.ts";
import { createProgressBar } from "../progress-bar.ts";
import { createCommandRuntime } from "../runtime.ts";
import { configurationFile } from "../target.ts";
import type { Terminal } from "../terminal.ts";

export interface BacktestOptions {
  readonly strategy: string;
  readonly prices: readonly string[];
  readonly poolPrices: readonly string[];
  readonly fromPool?: string;
  readonly config?: string;
  readonly from?: string;
  readonly until?: string;
  readonly balance: readonly string[];
  readonly poolFee: string;
  readonly depth: string;
  readonly gasPrice?: string;
  readonly gas: string;
  readonly slots?: boolean;
  readonly json?: boolean;
  readonly html?: string;
}

/**
 * `swapd backtest`: plays strategies over prices of the past. Opens no key, writes nothing but the report that was asked
 * for and what it read of a pool, and reaches no network but the user's node for that.
 */
export async function backtest(options: BacktestOptions, terminal: Terminal): Promise<void> {
  const configuration = configurationOf(options);
  const needed = configuration.strategies.flatMap(({ spec }) => tradedTokens(spec));
  const ready = options.fromPool === undefined ? [] : [await poolPrices(options, configuration, terminal)];
  const prices = readPrices(options.prices, configuration, { needed, pools: options.poolPrices, ready });
  const result = await played(options, { configuration, prices, terminal });
  const told = { configuration, prices, result, options: readBacktestOptions(options, configuration) };
  // What took minutes to play is told before a file can fail.
  terminal.out(options.json === true ? JSON.stringify(backtestJson(told)) : backtestText(told));
  if (options.html === undefined) return;
  writeReport(options.html, backtestPage(told));
  if (options.json !== true) terminal.out(`\nreport: ${resolve(options.html)}`);
}

async function played(
  options: BacktestOptions,
  { configuration, prices, terminal }: { configuration: Configuration; prices: PriceSet; terminal: Terminal },
): Promise<BacktestResult> {
  const bar = createProgressBar("backtest", terminal);
  try {
    return await runBacktest({
      ...{ configuration, prices, progress: bar.show, keepsSlots: options.slots === true },
      ...readBacktestOptions(options, configuration),
      ...(options.fromPool === undefined ? spanOf(options, prices) : withinPool(options, prices)),
    });
  } finally {
    bar.end();
  }
}

/** A pool had no price before its first swap, and has none after its last final block. */
function withinPool({ from, until }: BacktestOptions, prices: PriceSet): ReturnType<typeof spanOf> {
  const fromMs = Math.max(instantOf("--from", from) ?? 0, prices.fromMs);
  const untilMs = Math.min(instantOf("--until", until) ?? prices.untilMs, prices.untilMs);
  return spanOf({ from: new Date(fromMs).toISOString(), until: new Date(untilMs).toISOString() }, prices);
}

/** A candle of a pool. */
const POOL_CANDLE_MS = 60_000;
const POOL_FOLDER = resolve(".swapd", "backtest");

async function poolPrices(
  { fromPool = "", from, until }: BacktestOptions,
  configuration: Configuration,
  terminal: Terminal,
): Promise<ReadySeries> {
  const fromMs = instantOf("--from", from);
  if (fromMs === undefined)
    throw new CommandFailure(EXIT.usage, "--from-pool needs --from: a year of a pool is hours of reading");
  const runtime = createCommandRuntime(process.env);
  const chain = openChain(configuration, runtime.secrets);
  const bar = createProgressBar("reading the pool", terminal);
  const untilMs = instantOf("--until", until) ?? Number.MAX_SAFE_INTEGER;
  const asked = { pool: fromPool, fromMs, untilMs, stepMs: POOL_CANDLE_MS, folder: POOL_FOLDER, progress: bar.show };
  try {
    return await readPool(chain, configuration, asked);
  } finally {
    bar.end();
  }
}

function configurationOf({ config, strategy, balance }: BacktestOptions): Configuration {
  const path = resolve(strategy);
  if (!existsSync(path)) throw new CommandFailure(EXIT.no, `${path} does not exist: name a strategy's file`);
  const file = configurationFile({ config });
  if (!existsSync(file))
    throw new CommandFailure(
      EXIT.usage,
      `no configuration: a strategy names wallets and tokens, so name their file with --config FILE, or make one with \`swapd init\``,
    );
  const strategies = statSync(path).isDirectory() ? path : { file: path };
  const overrides = { mode: "paper", strategies, isFundedElsewhere: balance.length > 0 } as const;
  const loaded = loadConfiguration(resolve(file), process.env, { overrides });
  if (!loaded.ok) throw new CommandFailure(EXIT.no, formatProblems(loaded.problems));
  if (loaded.configuration.strategies.length === 0)
    throw new CommandFailure(EXIT.no, `there is no strategy in ${path}: each is a file that ends in .yaml`);
  return loaded.configuration;
}

function writeReport(file: string, page: string): void {
  try {
    writeFileSync(file, page);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    throw new CommandFailure(EXIT.no, `the report ${resolve(file)} cannot be written (${String(error.code)})`);
  }
}
