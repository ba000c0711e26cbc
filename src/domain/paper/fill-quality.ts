import { ONE_PPM } from "../money/fraction.ts";
import { type UsdPrice, valueDown } from "../money/price.ts";

/** A fill with the reference prices of its decision. Amounts in smallest units. */
export interface PricedFill {
  readonly sold: { readonly raw: bigint; readonly decimals: number; readonly usd: UsdPrice };
  readonly bought: { readonly raw: bigint; readonly decimals: number; readonly usd: UsdPrice };
}

/**
 * What a fill brought more than its reference prices promised, in parts per million; negative: less.
 * @returns undefined where nothing of value was sold
 */
export function againstReference({ sold, bought }: PricedFill): bigint | undefined {
  const out = valueDown(sold, sold.usd);
  return out <= 0n ? undefined : ((valueDown(bought, bought.usd) - out) * ONE_PPM) / out;
}

/** The middle one; of an even number the mean of the two in the middle, towards zero. Undefined of none. */
export function median(values: readonly bigint[]): bigint | undefined {
  const sorted = [...values].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2n;
}
