import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { parseUsd, type UsdPrice, valueUp } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { CalendarPeriod } from "../../../src/domain/schedule/calendar-period.ts";
import { type Budget, type BudgetView, budgetSpans } from "../../../src/domain/strategy/budget.ts";
import type { DcaSpec } from "../../../src/domain/strategy/dca.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import type { SweepSpec } from "../../../src/domain/strategy/sweep.ts";
import type { TwapSpec } from "../../../src/domain/strategy/twap.ts";
import type { ValueAveragingSpec } from "../../../src/domain/strategy/value-averaging.ts";
import { common, DAI, of, price, USDC, WETH } from "./world.ts";

export const zones = createIntlZones();
export const HOUR = 3_600_000;
export const START = Date.parse("2026-10-23T00:00Z");

export const PRICES: readonly (readonly [Token, string])[] = [
  [USDC, "1"],
  [DAI, "1"],
  [WETH, "2000"],
];

export function usd(text: string): UsdPrice {
  const parsed = parseUsd(text);
  if (parsed === undefined) throw new Error(`no dollars: ${text}`);
  return parsed;
}

/** A budget of periods, by Berlin's calendar. */
export function calendar(limits: Partial<Record<CalendarPeriod, bigint>>, change: Partial<Budget> = {}): Budget {
  const listed = Object.entries(limits).map(([period, most]) => ({ period: period as CalendarPeriod, most }));
  return { calendar: { timezone: "Europe/Berlin", limits: listed }, ...change };
}

/** One sale of a history. */
export interface Sale {
  readonly token: Token;
  readonly raw: bigint;
  /** when it was seen to be; undefined while it is reserved, null once it is released */
  settledMs: number | undefined | null;
}

export function worth({ token, raw }: Pick<Sale, "token" | "raw">): bigint {
  const [, dollars = "0"] = PRICES.find(([priced]) => priced.address === token.address) ?? [];
  return valueUp({ raw, decimals: token.decimals }, price(dollars).usd);
}

/** What rows would say of a history: each sale since a bound's beginning, and all that is reserved. */
export function budgetOf(spec: StrategySpec, sales: readonly Sale[], nowMs: number, runs = 0): BudgetView {
  const counts = budgetSpans(spec.budget, nowMs, zones).map((span) => {
    const counted = sales.filter(
      ({ settledMs }) => settledMs === undefined || (settledMs !== null && settledMs >= span.sinceMs),
    );
    const sold = new Map<Token["address"], bigint>();
    for (const { token, raw } of counted) sold.set(token.address, (sold.get(token.address) ?? 0n) + raw);
    return { ...span, sold, usd: counted.reduce((sum, sale) => sum + worth(sale), 0n) };
  });
  return { counts, runs };
}

export function dcaOf(budget: Budget, change: Partial<DcaSpec> = {}): DcaSpec {
  return { ...common, kind: "dca", sell: { token: USDC, raw: of(USDC, 100) }, buy: WETH, budget, ...change };
}

export function twapOf(budget: Budget, change: Partial<TwapSpec> = {}): TwapSpec {
  return {
    ...{ ...common, kind: "twap", schedule: { kind: "every", seconds: 3_600 }, budget },
    ...{ sell: { token: WETH, raw: of(WETH, 100) }, buy: USDC, startMs: START, slices: 1_000, everySeconds: 3_600 },
    ...{ spread: toPpm(0), slice: { unfilled: "roll", max: of(WETH, 2), min: of(WETH, "0.05") } },
    ...{ limit: { floor: undefined, abort: undefined }, exit: false, ...change },
  };
}

export function averagingOf(budget: Budget, change: Partial<ValueAveragingSpec> = {}): ValueAveragingSpec {
  return {
    ...{ ...common, kind: "value-averaging", pay: USDC, buy: WETH, path: { step: of(USDC, 100), growth: toPpm(0) } },
    ...{ maxContribution: of(USDC, 300), min: of(USDC, 10), allowSell: false, startMs: undefined },
    ...{ onInsufficient: "skip", budget, ...change },
  };
}

export function sweepOf(budget: Budget, change: Partial<SweepSpec> = {}): SweepSpec {
  const from = [WETH, DAI].map((token) => ({ token, keep: 0n, above: { usd: usd("100") } }));
  return {
    ...{ ...common, kind: "sweep", from, to: USDC, refill: undefined, lot: { min: usd("50"), max: usd("400") } },
    ...{ maxPerDay: undefined, cooldownSeconds: 0, exit: false, budget: { ...budget, inDollars: true }, ...change },
  };
}
