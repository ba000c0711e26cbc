import type { Address } from "../money/address.ts";
import { mulDivDown } from "../money/amount.ts";
import type { RecordedFill } from "./record.ts";
import { deviationOf, meanOf } from "./returns.ts";

/** Fewer sales than these make no statistics. */
export const LEAST_TRADES = 10;

/** A sale of something that was bought or held before, with its result at the average cost. Dollars (1e-18). */
export interface ClosedTrade {
  readonly atMs: number;
  readonly symbol: string;
  readonly cost: bigint;
  readonly profit: bigint;
}

/** What closed trades say together; ratios are undefined where there are too few, or none that lost. */
export interface TradeFigures {
  readonly count: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  readonly profit: bigint;
  readonly best: ClosedTrade | undefined;
  readonly worst: ClosedTrade | undefined;
  /** what was won for each dollar that was lost */
  readonly profitFactor: number | undefined;
  /** dollars that a trade brings on average */
  readonly expectancy: number | undefined;
  /** the same for each dollar of an average loss */
  readonly expectancyRatio: number | undefined;
  /** system quality number: the square root of the count, times mean by deviation */
  readonly sqn: number | undefined;
}

interface Position {
  raw: bigint;
  cost: bigint;
}

/**
 * The sales for money, each against the average cost of what was sold; gas is part of cost and result. What the accounts
 * began with cost what it was worth then.
 * @param begin what was held of each token, and its value in dollars
 */
export function closedTrades(
  fills: readonly RecordedFill[],
  begin: ReadonlyMap<Address, { readonly raw: bigint; readonly usd: bigint }>,
): readonly ClosedTrade[] {
  const positions = new Map<Address, Position>([...begin].map(([token, { raw, usd }]) => [token, { raw, cost: usd }]));
  const trades: ClosedTrade[] = [];
  for (const fill of fills) {
    const sold = positions.get(fill.sell.address) ?? { raw: 0n, cost: 0n };
    const share = sold.raw <= 0n ? 0n : mulDivDown(sold.cost, fill.sold < sold.raw ? fill.sold : sold.raw, sold.raw);
    positions.set(fill.sell.address, { raw: sold.raw - fill.sold, cost: sold.cost - share });
    const bought = positions.get(fill.buy.address) ?? { raw: 0n, cost: 0n };
    const cost = bought.cost + (fill.isExit ? fill.boughtUsd : fill.soldUsd + fill.gasUsd);
    positions.set(fill.buy.address, { raw: bought.raw + fill.bought, cost });
    if (!fill.isExit || share <= 0n) continue;
    const { atMs, sell, boughtUsd, gasUsd } = fill;
    trades.push({ atMs, symbol: sell.symbol, cost: share, profit: boughtUsd - gasUsd - share });
  }
  return trades;
}

/** Puts the figures of closed trades together. */
export function tradeFigures(trades: readonly ClosedTrade[]): TradeFigures {
  const won = trades.filter(({ profit }) => profit > 0n);
  const lost = trades.filter(({ profit }) => profit < 0n);
  const shareOf = ({ profit, cost }: ClosedTrade): number => Number(profit) / Number(cost);
  const byShare = [...trades].sort((one, other) => shareOf(one) - shareOf(other));
  const sum = (of: readonly ClosedTrade[]): bigint => of.reduce((total, { profit }) => total + profit, 0n);
  const isThin = trades.length < LEAST_TRADES;
  const dollars = trades.map(({ profit }) => forStatistics(profit));
  const deviation = deviationOf(dollars);
  const expectancy = isThin ? undefined : meanOf(dollars);
  const meanLoss = lost.length === 0 ? undefined : -forStatistics(sum(lost)) / lost.length;
  return {
    ...{ count: trades.length, wins: won.length, losses: lost.length, draws: trades.length - won.length - lost.length },
    ...{ profit: sum(trades), best: byShare.at(-1), worst: byShare[0], expectancy },
    profitFactor: isThin || lost.length === 0 ? undefined : Number(sum(won)) / -Number(sum(lost)),
    expectancyRatio: expectancy === undefined || meanLoss === undefined ? undefined : expectancy / meanLoss,
    sqn: isThin || deviation === 0 ? undefined : (Math.sqrt(trades.length) * meanOf(dollars)) / deviation,
  };
}

/** Dollars as a number, to a millionth: for means and deviations, never for money. */
function forStatistics(usd: bigint): number {
  return Number(usd / 10n ** 12n) / 1_000_000;
}
