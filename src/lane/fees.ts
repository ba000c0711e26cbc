import { larger, smaller } from "../domain/money/bigint.ts";
/** Fees of a transaction, wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What the chain asks for now. */
export interface FeeMarket {
  readonly baseFeePerGas: bigint;
  readonly priorityFee: bigint;
}

/**
 * Fees of a first attempt: room for the base fee to double (six full blocks), under the cap.
 * @returns undefined while the cap is below the base fee, when no block would take it
 */
export function firstFees(market: FeeMarket, cap: bigint): Fees | undefined {
  if (cap < market.baseFeePerGas) return undefined;
  const wanted = 2n * market.baseFeePerGas + market.priorityFee;
  const maxFeePerGas = smaller(wanted, cap);
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(market.priorityFee, maxFeePerGas) };
}

/**
 * Fees of a replacement: both fields at least an eighth (12.5 %, rounded up) above the old ones, because nodes ask for a
 * tenth or more on each, and at least what a first attempt would offer now.
 * @returns undefined when that is above the cap
 */
export function raisedFees(old: Fees, market: FeeMarket, cap: bigint): Fees | undefined {
  const fresh = 2n * market.baseFeePerGas + market.priorityFee;
  const maxFeePerGas = larger(raised(old.maxFeePerGas), smaller(fresh, cap));
  if (maxFeePerGas > cap) return undefined;
  const maxPriorityFeePerGas = larger(raised(old.maxPriorityFeePerGas), market.priorityFee);
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(maxPriorityFeePerGas, maxFeePerGas) };
}

function raised(fee: bigint): bigint {
  return (fee * 9n + 7n) / 8n + (fee === 0n ? 1n : 0n);
}
