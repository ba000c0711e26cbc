import { openBook } from "../../adapters/backtest/book.ts";
import { createMarket } from "../../adapters/backtest/market.ts";
import { createWorld } from "../../adapters/backtest/world.ts";
import type { Configuration } from "../../config/configuration.ts";
import type { FillModel } from "../../domain/backtest/fill-model.ts";
import type { BacktestRecord } from "../../domain/backtest/record.ts";
import { type BacktestSummary, summarise } from "../../domain/backtest/summary.ts";
import type { Address } from "../../domain/money/address.ts";
import { createBarGuesses, pathOf } from "./bar-guesses.ts";
import { beginningOf, moneyOf, pricedOf, summed, tokensOf, unpricedOf, valued } from "./beginning.ts";
import { type Collector, createCollector, type PlayedSlot } from "./collector.ts";
import { backtestContext, backtestSettings } from "./context.ts";
import { play } from "./play.ts";
import type { PriceSet } from "./price-files.ts";
import { createVirtualClock } from "./virtual-clock.ts";

/** What a backtest is asked to do. */
export interface BacktestTerms {
  readonly configuration: Configuration;
  readonly prices: PriceSet;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly model: FillModel;
  /** wei per gas, and gas of a swap; an approval comes on top */
  readonly gasPrice: bigint;
  readonly swapGas: bigint;
  /** what each wallet begins with, by its address */
  readonly balances: ReadonlyMap<Address, ReadonlyMap<Address, bigint>>;
  /** whether each slot is kept, as a history */
  readonly keepsSlots?: boolean;
  /** hears how far it is, from 0 to 1 */
  progress?(share: number): void;
}

/** What came of it. */
export interface BacktestResult {
  readonly summary: BacktestSummary;
  readonly record: BacktestRecord;
  readonly played: readonly PlayedSlot[];
  readonly modes: Collector["modes"];
  readonly alerts: Collector["alerts"];
  /** runs that decided at an instant whose price is a guess, and those of which another order of extremes would have fired another trigger */
  readonly guesses: { readonly inside: number; readonly undecided: number };
  /** whose gas was lent */
  readonly lent: readonly string[];
  /** held, and without any price: in no balance */
  readonly unpriced: readonly string[];
  /** whether gas has a price, without which no swap passes the guard */
  readonly isGasPriced: boolean;
}

/** Gas of an approval of a usual token. */
const APPROVAL_GAS = 50_000n;

/** Plays strategies over the prices with the daemon's own engine, on a clock that jumps from instant to instant. */
export async function runBacktest(terms: BacktestTerms): Promise<BacktestResult> {
  const { configuration, prices, fromMs, untilMs } = terms;
  const clock = createVirtualClock(fromMs);
  const settings = backtestSettings(configuration, prices);
  const specs = settings.strategies.map(({ spec }) => spec);
  const market = createMarket(prices.series, pathOf(specs), clock);
  const pools = createMarket(new Map([...prices.series, ...prices.pools]), pathOf(specs), clock);
  const beginning = beginningOf(terms);
  const world = createWorld(
    {
      ...{
        chainId: settings.chainId,
        wrappedNative: settings.wrappedNative,
        holdings: beginning.all,
        model: terms.model,
      },
      ...{ gasPrice: terms.gasPrice, swapGas: terms.swapGas, approvalGas: APPROVAL_GAS },
      quoteSeconds: configuration.timing.quoteLifetimeSeconds,
    },
    { market: pools, clock },
  );
  const tokens = tokensOf(configuration, settings.native);
  const held = summed(beginning.all, beginning.lentWei);
  const begin = pricedOf(held, prices.series);
  const collector = createCollector({
    ...{ market, specs, tokens, native: settings.native, poolFee: terms.model.poolFee, begin },
    ...{ money: moneyOf(configuration), keepsSlots: terms.keepsSlots === true },
    holdings: () => pricedOf(summed(world.holdings(), beginning.lentWei), prices.series),
  });
  const book = openBook(collector, market.bars);
  const isGuess = (token: Address): boolean => market.isGuess(token) || pools.isGuess(token);
  const guesses = createBarGuesses({ market: { ...market, isGuess }, specs });
  const context = backtestContext(
    { ...settings, lentGas: beginning.lentGas },
    {
      store: book.store,
      world,
      market,
      clock,
      wallets: configuration.wallets,
    },
  );
  // Prices do not change faster than the files say, and the daemon does not look more often than it is set to.
  const lookMs = Math.max(prices.stepMs, configuration.timing.priceSampleIntervalMs);
  await play({ context, clock, book, world, lookMs }, untilMs, {
    look: (atMs) => {
      collector.sample(atMs);
      terms.progress?.((atMs - fromMs) / (untilMs - fromMs));
    },
    landed: (swapId, { purpose }, receipt) => {
      if (purpose === "approve") collector.approved(swapId, receipt.gasUsed * receipt.effectiveGasPrice);
    },
    viewed: (run, view, memory) => {
      collector.deciding(run);
      guesses.heed(run, view, memory);
    },
  });
  const record = collector.record({ fromMs, untilMs });
  const summary = summarise(record, {
    begin: valued(begin, { tokens, series: prices.series, fromMs }),
    poolFee: terms.model.poolFee,
    hasMoney: moneyOf(configuration).size > 0,
  });
  const { played, modes, alerts } = collector;
  return {
    ...{ summary, record, played, modes, alerts, guesses: guesses.counts(), lent: beginning.lent },
    unpriced: unpricedOf(held, { tokens, series: prices.series }),
    isGasPriced: prices.series.has(settings.native.address),
  };
}
