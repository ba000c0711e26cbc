import { formatUnits, MAX_UINT256 } from "../domain/money/amount.ts";
import type { SwapRow } from "./rows.ts";

/** A token as the rows name it. */
export interface NamedToken {
  readonly symbol: string;
  readonly decimals: number;
}

export const soldToken = (swap: SwapRow): NamedToken => ({ symbol: swap.sell_symbol, decimals: swap.sell_decimals });
export const boughtToken = (swap: SwapRow): NamedToken => ({ symbol: swap.buy_symbol, decimals: swap.buy_decimals });

/** An amount to the last digit, so that a difference of one wei is seen: `0.100000000000000001 WETH`. */
export function amountText(raw: bigint | null, { symbol, decimals }: NamedToken): string {
  if (raw === null) return `no ${symbol}`;
  return raw === MAX_UINT256 ? `any amount of ${symbol}` : `${formatUnits(raw, decimals)} ${symbol}`;
}
