import type { Address } from "../money/address.ts";
import { formatAmount } from "../money/amount.ts";
import { formatDollars } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import { type CalendarPeriod, calendarPeriod, type PeriodSpan } from "../schedule/calendar-period.ts";
import type { ZoneOffsets } from "../schedule/schedule.ts";
import { formatTimeLeft } from "../time/format-duration.ts";

/**
 * What a strategy may sell, over its life and in periods of the calendar, and where it ends. Amounts are in the smallest
 * unit of the one token that it pays with; of a strategy that sells several tokens they are dollars (1e-18).
 */
export interface Budget {
  readonly total?: bigint | undefined;
  readonly calendar?: CalendarBudget | undefined;
  readonly inDollars?: true | undefined;
  /** the last instant at which a slot trades, Unix milliseconds */
  readonly untilMs?: number | undefined;
  /** runs that sold something */
  readonly maxRuns?: number | undefined;
}

/** The most of each period, by the calendar of a zone. */
interface CalendarBudget {
  readonly timezone: string;
  readonly limits: readonly { readonly period: CalendarPeriod; readonly most: bigint }[];
}

/** What an amount of a budget is bound to. */
export type BudgetBound = CalendarPeriod | "total";

/** What was sold since an instant: measured fills of after it, and all that is reserved. */
export interface SoldSince {
  /** in the smallest unit, by token */
  readonly sold: ReadonlyMap<Address, bigint>;
  /** dollars scaled by 1e18, at the prices of clearance */
  readonly usd: bigint;
}

/** The bounds of a budget at an instant, with the span of each; the one of all time has none. */
export interface BudgetSpan {
  readonly bound: BudgetBound;
  readonly most: bigint;
  /** Unix milliseconds; 0 of the total */
  readonly sinceMs: number;
  readonly renews?: Omit<PeriodSpan, "sinceMs"> & { readonly timezone: string };
}

/** A bound of a budget with what was sold within it. */
export interface BudgetCount extends BudgetSpan, SoldSince {}

/** What a strategy with a budget has done, at the instant of a view. */
export interface BudgetView {
  readonly counts: readonly BudgetCount[];
  /** runs that sold something */
  readonly runs: number;
}

/** What is left of the tightest bound of a budget, never less than nothing. */
export interface BudgetLeft {
  readonly left: bigint;
  readonly count: BudgetCount;
}

/** What a budget is counted in. */
export type BudgetCurrency = Token | "USD";

/** The bounds of a budget at an instant, the total first. */
export function budgetSpans(budget: Budget | undefined, atMs: number, zones: ZoneOffsets): readonly BudgetSpan[] {
  if (budget === undefined) return [];
  const { total, calendar } = budget;
  const life: readonly BudgetSpan[] = total === undefined ? [] : [{ bound: "total", most: total, sinceMs: 0 }];
  if (calendar === undefined) return life;
  const { timezone, limits } = calendar;
  return [
    ...life,
    ...limits.map(({ period, most }): BudgetSpan => {
      const { sinceMs, ...renews } = calendarPeriod(period, { atMs, timezone }, zones);
      return { bound: period, most, sinceMs, renews: { ...renews, timezone } };
    }),
  ];
}

/** The bounds that begin anew with each period. */
export function periodsOf(view: BudgetView | undefined): readonly BudgetCount[] {
  return view?.counts.filter(({ bound }) => bound !== "total") ?? [];
}

/** How much of the budget's currency was sold within a bound. */
export function soldWithin({ sold, usd }: SoldSince, currency: BudgetCurrency): bigint {
  return currency === "USD" ? usd : (sold.get(currency.address) ?? 0n);
}

/**
 * What is left of the tightest of some bounds; of several that leave as much the first.
 * @returns undefined where there is no bound
 */
export function tightest(counts: readonly BudgetCount[], currency: BudgetCurrency): BudgetLeft | undefined {
  let found: BudgetLeft | undefined;
  for (const count of counts) {
    const sold = soldWithin(count, currency);
    const left = count.most > sold ? count.most - sold : 0n;
    if (found === undefined || left < found.left) found = { left, count };
  }
  return found;
}

/** An amount in what a budget is counted in. */
function formatBudgeted(raw: bigint, currency: BudgetCurrency): string {
  return currency === "USD" ? formatDollars(raw) : formatAmount({ token: currency, raw });
}

/** Which bound it is, with its amount: `100 USDC a week`. */
function describeBound({ bound, most }: Pick<BudgetSpan, "bound" | "most">, currency: BudgetCurrency): string {
  const amount = formatBudgeted(most, currency);
  return bound === "total" ? `${amount} in all` : `${amount} a ${bound}`;
}

/** How people and files call what was sold within a bound. */
export function nameOfBound(bound: BudgetBound): { readonly subject: string; readonly key: string } {
  if (bound === "total") return { subject: "sold by the strategy in all", key: "total" };
  return { subject: `sold by the strategy ${bound === "day" ? "today" : `this ${bound}`}`, key: `per_${bound}` };
}

/** When a bound begins anew: `, it renews on 2026-11-30 (Europe/Berlin)`. */
function describeRenewal({ renews }: BudgetSpan): string {
  return renews === undefined ? "" : `, it renews on ${renews.renewsOn} (${renews.timezone})`;
}

/** Prices move until the guard checks a swap against a budget in dollars, so so much of what is left is planned with. */
const OF_DOLLARS_PERCENT = 95n;

/** How much of what is left of a budget in dollars is planned with. */
export function plannedDollars(left: bigint): bigint {
  return (left * OF_DOLLARS_PERCENT) / 100n;
}

/** How much of a budget in dollars can be planned with (1e-18), less than what is left. */
export interface Plannable {
  readonly usd: bigint;
  /** the token that everything is swapped over: the same value is sold twice */
  readonly over?: Token | undefined;
}

/** `, of which 247 USD can be planned (95%, sold twice over USDC)`, because what is left may be more than the least. */
function describePlannable(plannable: Plannable | undefined): string {
  if (plannable === undefined) return "";
  const twice = plannable.over === undefined ? "" : `, sold twice over ${plannable.over.symbol}`;
  return `, of which ${formatDollars(plannable.usd)} can be planned (${OF_DOLLARS_PERCENT}%${twice})`;
}

/**
 * That a bound leaves less than a slot would sell, or than the least that is worth a swap: the period, what is left of it,
 * and when it renews.
 */
export function budgetObstacle(
  { left, count }: BudgetLeft,
  sale: { readonly wanted: bigint } | { readonly least: bigint; readonly plannable?: Plannable },
  currency: BudgetCurrency,
): { readonly reason: "budget_spent" | "budget_period_spent"; readonly detail: string } {
  const bound = describeBound(count, currency);
  const need =
    "wanted" in sale
      ? `and the slot would sell ${formatBudgeted(sale.wanted, currency)}`
      : `and the least that is traded is ${formatBudgeted(sale.least, currency)}`;
  const plannable = "least" in sale ? describePlannable(sale.plannable) : "";
  const detail = `${formatBudgeted(left, currency)} are left of ${bound}${plannable}, ${need}${describeRenewal(count)}`;
  return { reason: count.bound === "total" ? "budget_spent" : "budget_period_spent", detail };
}

/** Why a strategy trades no more whatever the market does: its last day, or its number of runs. */
export function budgetEnd(
  budget: Budget | undefined,
  at: { readonly slotMs: number; readonly nowMs: number; readonly runs: number | undefined },
): { readonly detail: string; readonly pause: { readonly code: "completed"; readonly detail: string } } | undefined {
  const { untilMs, maxRuns } = budget ?? {};
  const ended = (detail: string) => ({ detail, pause: { code: "completed", detail } as const });
  if (untilMs !== undefined && at.slotMs > untilMs) {
    return ended(`its end lies ${formatTimeLeft(at.slotMs - untilMs)} before this slot`);
  }
  // A slot that is caught up may be of before it.
  if (untilMs !== undefined && at.nowMs > untilMs) {
    return ended(`its end lies ${formatTimeLeft(at.nowMs - untilMs)} before this check`);
  }
  if (maxRuns === undefined || at.runs === undefined || at.runs < maxRuns) return undefined;
  return ended(`traded ${at.runs} of ${maxRuns} times`);
}
