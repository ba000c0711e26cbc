import type { Address } from "../money/address.ts";
import { larger, smaller } from "../money/bigint.ts";
import { amountWorthDown, highestOf, type ReferencePrice, type UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";

/** A strategy whose orders may grow beyond a slot's own amount. */
export interface GrowingOrders {
  /** the owner's largest trade; undefined in editions that older releases stored, whose orders nothing bounds here */
  readonly maxTradeUsd?: UsdPrice | undefined;
}

/** Share of the policy's largest trade that is planned with: prices move until the guard checks the swap against it. */
const OF_LARGEST_TRADE_PERCENT = 95n;

/** The most that one swap is planned with, in dollars scaled by 1e18. */
export function plannedTrade(maxTradeUsd: UsdPrice): UsdPrice {
  return ((maxTradeUsd * OF_LARGEST_TRADE_PERCENT) / 100n) as UsdPrice;
}

/**
 * The most of a token that one swap is planned with, in its smallest unit, by the price that the guard will count it at.
 * @returns undefined without a price: the guard lets nothing through then
 */
export function mostAtOnce(
  { maxTradeUsd }: GrowingOrders,
  token: Token,
  prices: ReadonlyMap<Address, ReferencePrice>,
): bigint | undefined {
  const price = prices.get(token.address);
  if (maxTradeUsd === undefined || price === undefined || price.usd <= 0n) return undefined;
  return amountWorthDown(plannedTrade(maxTradeUsd), { decimals: token.decimals, usd: highestOf(price).usd });
}

/** What is added to a slot's own amount is cut to what one swap may be; the own amount is left for the guard to judge. */
export function growWithin(most: bigint | undefined, { own, wanted }: { own: bigint; wanted: bigint }): bigint {
  return most === undefined ? wanted : smaller(wanted, larger(own, most));
}
