import type { Address } from "../money/address.ts";
import type { BudgetSpan, BudgetView } from "../strategy/budget.ts";

/** A budget while a forecast goes on: what was sold before it, and what it has sold so far. */
export interface BudgetCourse {
  readonly before: BudgetView;
  readonly sales: {
    readonly atMs: number;
    readonly token: Address;
    readonly amount: bigint;
    /** dollars scaled by 1e18 */
    readonly usd: bigint;
  }[];
  runs: number;
}

/** A budget as it stands when a forecast begins. */
export function beginBudget(before: BudgetView): BudgetCourse {
  return { before, sales: [], runs: before.runs };
}

/** The budget at a later instant. Of a period that begins after the forecast did nothing was sold before it. */
export function budgetAt({ before, sales, runs }: BudgetCourse, spans: readonly BudgetSpan[]): BudgetView {
  const counts = spans.map((span) => {
    const known = before.counts.find(({ bound, sinceMs }) => bound === span.bound && sinceMs === span.sinceMs);
    const sold = new Map(known?.sold);
    let usd = known?.usd ?? 0n;
    for (const sale of sales) {
      if (sale.atMs < span.sinceMs) continue;
      sold.set(sale.token, (sold.get(sale.token) ?? 0n) + sale.amount);
      usd += sale.usd;
    }
    return { ...span, sold, usd };
  });
  return { counts, runs };
}
