import { mulDivDown } from "../money/amount.ts";
import { ONE_PPM, type Ppm } from "../money/fraction.ts";
import { textHash } from "../schedule/text-hash.ts";

/** What the sizes of slices are computed from. */
export interface SlicePlan {
  /** the strategy's id: two strategies of the same amounts slice differently */
  readonly id: string;
  readonly total: bigint;
  readonly slices: number;
  /** how far a slice may be from an even one, before all of them are scaled to sum up */
  readonly spread: Ppm;
}

/**
 * The sizes of all slices. Each weighs one whole, plus or minus up to the spread, derived from the strategy and the
 * slice's number, so nothing ever rolls them anew. Sizes are rounded down; the last takes the remainder, so that their
 * sum is the total exactly. Formula: size = total x weight / sum of weights.
 */
export function sliceSizes(plan: SlicePlan): readonly bigint[] {
  const weights = Array.from({ length: plan.slices }, (_, slice) => weightOf(plan, slice));
  const sum = weights.reduce((total, weight) => total + weight, 0n);
  const sizes = weights.map((weight) => mulDivDown(plan.total, weight, sum));
  const rest = sizes.slice(0, -1).reduce((left, size) => left - size, plan.total);
  return [...sizes.slice(0, -1), rest];
}

function weightOf({ id, spread }: SlicePlan, slice: number): bigint {
  return ONE_PPM - spread + (BigInt(textHash(`${id} slice ${slice}`)) % (2n * spread + 1n));
}
