import type { Check } from "../guard/check.ts";
import type { DenialCode } from "../guard/denial.ts";
import { type CeilingCode, ceilingCheck, smallestCheck } from "../guard/limit-checks.ts";
import { CEILING_WINDOWS_MS } from "../guard/policy.ts";
import type { Address } from "../money/address.ts";
import { type ReferencePrice, type UsdPrice, valueDown, valueUp } from "../money/price.ts";
import type { Token } from "../money/token.ts";

/** The owner's ceilings on the value of trades. Dollars scaled by 1e18. */
export interface ForecastLimits {
  readonly maxTradeUsd: UsdPrice;
  readonly maxPerDayUsd: UsdPrice;
  readonly maxPerMonthUsd: UsdPrice | undefined;
  readonly minTradeUsd: UsdPrice | undefined;
}

/** The value of a trade at its instant, rounded up for ceilings and down for the floor. Dollars scaled by 1e18. */
export interface TradeValue {
  readonly atMs: number;
  readonly usd: bigint;
  readonly atLeastUsd: bigint;
}

/** @returns undefined when the sold token has no reference price */
export function valueOfTrade(
  trade: { readonly sell: Token; readonly amount: bigint; readonly atMs: number },
  prices: ReadonlyMap<Address, ReferencePrice>,
): TradeValue | undefined {
  const price = prices.get(trade.sell.address);
  if (price === undefined) return undefined;
  const amount = { raw: trade.amount, decimals: trade.sell.decimals };
  return { atMs: trade.atMs, usd: valueUp(amount, price.usd), atLeastUsd: valueDown(amount, price.usd) };
}

/** The first ceiling that a trade would break, with the numbers; as the guard compares them before it signs. */
export function ceilingProblem(
  trade: TradeValue | undefined,
  known: { readonly trades: readonly TradeValue[]; readonly limits: ForecastLimits },
): { readonly code: DenialCode; readonly detail: string } | undefined {
  if (trade === undefined) return { code: "REFERENCE_MISSING", detail: "the sold token has no reference price" };
  const { limits, trades } = known;
  const since = (ms: number): bigint =>
    trades.filter((other) => other.atMs >= trade.atMs - ms).reduce((sum, other) => sum + other.usd, trade.usd);
  const over = (code: CeilingCode, value: bigint, most: UsdPrice | undefined) =>
    most === undefined ? undefined : problemOf(ceilingCheck(code, { value, most }));
  const small = limits.minTradeUsd;
  return (
    over("RUN_CAP_EXCEEDED", trade.usd, limits.maxTradeUsd) ??
    over("DAILY_CAP_EXCEEDED", since(CEILING_WINDOWS_MS.day), limits.maxPerDayUsd) ??
    over("MONTHLY_CAP_EXCEEDED", since(CEILING_WINDOWS_MS.month), limits.maxPerMonthUsd) ??
    (small === undefined ? undefined : problemOf(smallestCheck(trade.atLeastUsd, small)))
  );
}

function problemOf({ code, subject, value, limit, ok }: Check): { code: DenialCode; detail: string } | undefined {
  return ok ? undefined : { code, detail: `${subject}: ${value}, allowed: ${limit}` };
}
