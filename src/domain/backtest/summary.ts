import type { Address } from "../money/address.ts";
import { ONE_PPM, type Ppm } from "../money/fraction.ts";
import { median } from "../paper/fill-quality.ts";
import { DAY_MS } from "../time/durations.ts";
import { type Accumulation, accumulationOf } from "./baselines.ts";
import { closedTrades, type TradeFigures, tradeFigures } from "./closed-trades.ts";
import type { BacktestRecord, RecordedFill, SlotCounts } from "./record.ts";
import { type DayReturn, dayReturns, deepestFall, type Fall, type Ratios, ratiosOf } from "./returns.ts";

/** What trading cost, in dollars (1e-18), and how far fills lay from the reference. */
export interface Costs {
  readonly volume: bigint;
  readonly affiliate: bigint;
  readonly fees: bigint;
  /** what fills lost besides the fees: their impact, and how far pools lay from the reference */
  readonly impact: bigint;
  readonly gas: bigint;
  /** all fills together, weighed by value, in parts per million; undefined without a fill */
  readonly againstReferencePpm: bigint | undefined;
  readonly medianPpm: bigint | undefined;
}

/** How the slots of a strategy went. */
export interface StrategyFigures extends SlotCounts {
  readonly strategyId: string;
  readonly fills: number;
  readonly costs: Costs;
  /** share of the slots that saw weights at which all were inside their bands; undefined without bands, or of no such slot */
  readonly insideBands: number | undefined;
  readonly accumulation: Accumulation | undefined;
}

/** A backtest in figures. Dollars are scaled by 1e18; what there is too little data for is undefined. */
export interface BacktestSummary extends Ratios {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly days: number;
  readonly starting: bigint;
  readonly final: bigint;
  readonly profit: bigint;
  /** as a share of the starting value */
  readonly profitShare: number;
  /** the same had nothing been traded */
  readonly marketShare: number;
  readonly fall: Fall | undefined;
  readonly bestDay: DayReturn | undefined;
  readonly worstDay: DayReturn | undefined;
  readonly winningDays: number;
  readonly losingDays: number;
  readonly fills: number;
  readonly costs: Costs;
  readonly trades: TradeFigures;
  /** whether any token counts as money, without which no sale is one for money */
  readonly hasMoney: boolean;
  readonly strategies: readonly StrategyFigures[];
}

/** Sums a backtest up. `begin` is what the accounts held at its beginning, with its value. */
export function summarise(
  record: BacktestRecord,
  terms: {
    readonly begin: ReadonlyMap<Address, { readonly raw: bigint; readonly usd: bigint }>;
    readonly poolFee: Ppm;
    readonly hasMoney: boolean;
  },
): BacktestSummary {
  const { samples, fills, fromMs, untilMs } = record;
  const [first, last] = [samples[0], samples.at(-1)];
  const starting = first?.value ?? 0n;
  const final = last?.value ?? 0n;
  const days = dayReturns(samples);
  const fall = deepestFall(samples);
  const byShare = [...days].sort((one, other) => one.share - other.share);
  const of = (value: bigint): number => (starting === 0n ? 0 : Number(value - starting) / Number(starting));
  return {
    ...{ fromMs, untilMs, days: (untilMs - fromMs) / DAY_MS, starting, final },
    ...{ profit: final - starting, profitShare: of(final), marketShare: of(last?.held ?? starting) },
    ...ratiosOf(samples, days, fall),
    ...{ fall, bestDay: byShare.at(-1), worstDay: byShare[0] },
    winningDays: days.filter(({ share }) => share > 0).length,
    losingDays: days.filter(({ share }) => share < 0).length,
    ...{ fills: fills.length, costs: costsOf(fills) },
    ...{ trades: tradeFigures(closedTrades(fills, terms.begin)), hasMoney: terms.hasMoney },
    strategies: [...record.slots].map(([strategyId, counts]) => {
      const own = fills.filter((fill) => fill.strategyId === strategyId);
      const prices = record.slotPrices.get(strategyId) ?? [];
      return {
        ...{ strategyId, ...counts, fills: own.length, costs: costsOf(own), insideBands: insideBands(counts) },
        accumulation: accumulationOf(strategyId, own, { prices, poolFee: terms.poolFee }),
      };
    }),
  };
}

function costsOf(fills: readonly RecordedFill[]): Costs {
  const sum = (of: (fill: RecordedFill) => bigint): bigint => fills.reduce((total, fill) => total + of(fill), 0n);
  const volume = sum(({ soldUsd }) => soldUsd);
  const bought = sum(({ boughtUsd }) => boughtUsd);
  const fees = sum(({ feeUsd }) => feeUsd);
  const affiliate = sum(({ affiliateUsd }) => affiliateUsd);
  const each = fills.flatMap(({ soldUsd, boughtUsd }) =>
    soldUsd > 0n ? [((boughtUsd - soldUsd) * ONE_PPM) / soldUsd] : [],
  );
  return {
    ...{ volume, affiliate, fees, impact: volume - bought - affiliate - fees, gas: sum(({ gasUsd }) => gasUsd) },
    againstReferencePpm: volume > 0n ? ((bought - volume) * ONE_PPM) / volume : undefined,
    medianPpm: median(each),
  };
}

/** Ends of slots that saw no weights: there was no run, no price, or no answer. */
const BLIND: readonly string[] = [
  ...["missed", "overlap", "paused", "exits-only", "halted", "accumulated", "outside_window", "not_started", "ended"],
  ...["unpriceable", "view_unavailable"],
];

/** Of the slots that saw the weights. */
function insideBands({ slots, byEnd, hasBands }: SlotCounts): number | undefined {
  const seen = slots - BLIND.reduce((sum, end) => sum + (byEnd.get(end) ?? 0), 0);
  return hasBands && seen > 0 ? (byEnd.get("within_bands") ?? 0) / seen : undefined;
}
