import { mulDivDown, mulDivUp } from "../money/amount.ts";
import { ONE_PPM, type Ppm, toPpm } from "../money/fraction.ts";

/** After so long a market has forgotten a fill: what it moved has decayed to nothing by then, second by second. */
export const IMPACT_LASTS_SECONDS = 600;

/** By how much a fill made the next one of its pair and direction dearer, at its time. */
interface Shift {
  readonly seconds: number;
  readonly ppm: bigint;
}

/**
 * What own fills on paper still take away from the next one of the same pair and direction: on the chain none of them ever
 * moved the pool. Each decays linearly over {@link IMPACT_LASTS_SECONDS}; they compound, and are rounded against us.
 */
export function carriedImpact(shifts: readonly Shift[], atSeconds: number): Ppm {
  const left = shifts.reduce((rest, { seconds, ppm }) => {
    const remaining = BigInt(Math.max(0, IMPACT_LASTS_SECONDS - Math.max(0, atSeconds - seconds)));
    const shift = mulDivUp(ppm, remaining, BigInt(IMPACT_LASTS_SECONDS));
    return shift >= ONE_PPM ? 0n : mulDivDown(rest, ONE_PPM - shift, ONE_PPM);
  }, ONE_PPM as bigint);
  return toPpm(ONE_PPM - left);
}

/** An output with the impact of own fills before it taken off, rounded down. */
export function afterImpact(amount: bigint, impact: Ppm): bigint {
  return mulDivDown(amount, ONE_PPM - impact, ONE_PPM);
}

/**
 * The slippage to ask for where the quote knows nothing of the impact: the minimum that is signed then is the slippage below
 * the quote with its impact. Rounded down, so that the minimum is rather too high.
 */
export function slippageWithImpact(slippage: Ppm, impact: Ppm): Ppm {
  if (slippage >= ONE_PPM) return slippage;
  return toPpm(ONE_PPM - mulDivUp(ONE_PPM - slippage, ONE_PPM - impact, ONE_PPM));
}
