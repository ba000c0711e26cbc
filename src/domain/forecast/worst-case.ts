import { smaller } from "../money/bigint.ts";
import { instantsSince } from "../schedule/instants-since.ts";
import type { ZoneOffsets } from "../schedule/schedule.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import { DAY_MS } from "../time/durations.ts";
import type { ForecastLimits } from "./ceilings.ts";

const MONTH_DAYS = 30;

/** The most that all strategies together could sell, in dollars scaled by 1e18. */
export interface WorstCase {
  readonly perDayUsd: bigint;
  readonly perMonthUsd: bigint;
}

/**
 * The most that could be sold whatever the market does: each slot of the coming day and 30 days at the largest trade that
 * the owner allows, and never more than the ceilings of a day and of 30 days.
 */
export function worstCase(
  strategies: readonly StrategySpec[],
  limits: ForecastLimits,
  at: { readonly nowMs: number; readonly zones: ZoneOffsets },
): WorstCase {
  const slotsWithin = (days: number): bigint => {
    const range = { afterMs: at.nowMs, untilMs: at.nowMs + days * DAY_MS };
    return strategies.reduce((sum, spec) => sum + BigInt(instantsSince(spec.schedule, range, at.zones)), 0n);
  };
  const perDayUsd = smaller(slotsWithin(1) * limits.maxTradeUsd, limits.maxPerDayUsd);
  const monthByDays = limits.maxPerDayUsd * BigInt(MONTH_DAYS);
  const monthCeiling = smaller(limits.maxPerMonthUsd ?? monthByDays, monthByDays);
  return { perDayUsd, perMonthUsd: smaller(slotsWithin(MONTH_DAYS) * limits.maxTradeUsd, monthCeiling) };
}
