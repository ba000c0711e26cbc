import { ONE_PPM, type Ppm } from "../money/fraction.ts";

/** What a holding should be worth at each slot. */
export interface ValuePath {
  /** what each slot adds, in the smallest unit of the token that it is counted in */
  readonly step: bigint;
  /** growth of the whole path from slot to slot */
  readonly growth: Ppm;
}

/** A growing path is computed exactly, with numbers that get longer with every slot: here it ends. */
export const LONGEST_GROWING_PATH = 10_000;

/**
 * What the holding should be worth at its n-th slot, exact but for one rounding down at the end.
 * Formula: n x step x (1 + growth)^n, with growth in parts per million: n x step x (10^6 + g)^n / 10^(6n).
 * @throws RangeError for a growing path beyond {@link LONGEST_GROWING_PATH}
 */
export function pathValue({ step, growth }: ValuePath, slot: number): bigint {
  const n = BigInt(slot);
  if (growth === 0n) return n * step;
  if (slot > LONGEST_GROWING_PATH) throw new RangeError(`a growing path has no slot ${slot}`);
  return (n * step * (ONE_PPM + growth) ** n) / ONE_PPM ** n;
}
