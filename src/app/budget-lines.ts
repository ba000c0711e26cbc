import { formatUnits } from "../domain/money/amount.ts";
import { USD_DECIMALS } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import { type BudgetCount, type BudgetSpan, soldWithin } from "../domain/strategy/budget.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { tradedSides } from "../domain/strategy/strategy.ts";
import { formatInstant } from "./terminal.ts";

/** One bound of a strategy's budget, for people. Amounts as decimal text in its currency. */
export interface BudgetLine {
  readonly period: BudgetSpan["bound"];
  /** the token that it is counted in, or USD */
  readonly token: string;
  readonly limit: string;
  /** spent and reserved */
  readonly sold: string;
  readonly left: string;
  /** when it begins anew; null of the total */
  readonly renews: string | null;
}

/** What a strategy's budget is counted in; undefined where it sells nothing. */
export function budgetCurrency(spec: StrategySpec): Token | "USD" | undefined {
  return spec.budget?.inDollars === true ? "USD" : tradedSides(spec).sells[0];
}

/** What is left of each bound of a strategy's budget. */
export function budgetLines(spec: StrategySpec, counts: readonly BudgetCount[]): readonly BudgetLine[] {
  const currency = budgetCurrency(spec);
  if (currency === undefined) return [];
  const show = (raw: bigint): string =>
    currency === "USD" ? cents(formatUnits(raw, USD_DECIMALS)) : formatUnits(raw, currency.decimals);
  return counts.map((count) => {
    const sold = soldWithin(count, currency);
    return {
      period: count.bound,
      token: currency === "USD" ? "USD" : currency.symbol,
      ...{ limit: show(count.most), sold: show(sold), left: show(count.most > sold ? count.most - sold : 0n) },
      renews: count.renews === undefined ? null : formatInstant(count.renews.renewsMs),
    };
  });
}

/** The rows of a table of budgets: what is left of which bound, and when it renews. */
export function budgetTable(strategyId: string, lines: readonly BudgetLine[]): string[][] {
  return lines.map(({ period, token, limit, sold, left, renews }) => [
    ...[strategyId, period === "total" ? `${limit} ${token} in all` : `${limit} ${token} a ${period}`],
    ...[`${sold} ${token}`, `${left} ${token}`, renews ?? "-"],
  ]);
}

/** The heading of that table. */
export const BUDGET_HEADING = ["STRATEGY", "BUDGET", "SOLD OR RESERVED", "LEFT", "RENEWS (UTC)"];

function cents(usd: string): string {
  return usd.replace(/(\.\d\d)\d*$/, "$1");
}
