import { smaller } from "../money/bigint.ts";
import { formatDollars, type UsdPrice } from "../money/price.ts";
import { budgetObstacle, plannedDollars, tightest } from "./budget.ts";
import type { SkipReason, StrategyView } from "./decision.ts";
import { type SweepMemory, soldInDay } from "./sweep-memory.ts";

/** What a run may still sell, in dollars (1e-18), and why no more. */
export interface SweepCap {
  /** undefined: nothing bounds it */
  readonly left: bigint | undefined;
  readonly obstacle: { readonly reason: SkipReason; readonly detail: string };
}

/** What of a strategy's settings bounds a run. */
interface CapTerms {
  readonly maxPerDay: UsdPrice | undefined;
  readonly lot: { readonly min: UsdPrice };
}

/** The tighter of what is left of the day's limit and of the budget. */
export function sweepCap(spec: CapTerms, view: StrategyView, memory: SweepMemory): SweepCap {
  const ofDay = spec.maxPerDay === undefined ? undefined : spec.maxPerDay - soldInDay(memory, view.nowMs);
  const budget = tightest(view.budget?.counts ?? [], "USD");
  const inBudget = budget === undefined ? undefined : plannedDollars(budget.left);
  if (budget !== undefined && inBudget !== undefined && (ofDay === undefined || inBudget < ofDay)) {
    const least = { least: spec.lot.min, plannable: { usd: inBudget } };
    return { left: inBudget, obstacle: budgetObstacle(budget, least, "USD") };
  }
  const detail = `what is left of ${formatDollars(spec.maxPerDay ?? 0n)} a day is no lot`;
  return { left: ofDay, obstacle: { reason: "turnover_spent", detail } };
}

/** The cap once something of it is planned. */
export function lessPlanned({ left, obstacle }: SweepCap, usd: bigint): SweepCap {
  return { left: left === undefined ? undefined : left - usd, obstacle };
}

/** As much as the cap lets through. */
export function capped({ left }: SweepCap, usd: bigint): bigint {
  return smaller(left ?? usd, usd);
}
