import { larger } from "../money/bigint.ts";
import { lessShareUp, ONE_PPM, type Ppm, toPpm } from "../money/fraction.ts";
import { convertUp, type UsdPrice } from "../money/price.ts";

/** A token with its reference price in dollars (1e-18). */
export interface PricedToken {
  readonly decimals: number;
  readonly usd: UsdPrice;
}

/** What the required minimum is made of. Amounts in the smallest unit of their token. */
export interface MinimumTerms {
  /** output the quote promises, bought token */
  readonly quotedOut: bigint;
  readonly slippage: Ppm;
  /** gross amount sold: every fee counts as a loss */
  readonly gross: bigint;
  readonly sold: PricedToken;
  readonly bought: PricedToken;
  /** how far below the reference the output may lie */
  readonly tolerance: Ppm;
  /** what a second service would give for the same gross amount; undefined where there is none */
  readonly secondOut: bigint | undefined;
}

/**
 * The least output of the bought token that a signature of ours must guarantee, in its smallest unit, rounded up: the
 * largest of quotedOut x (1 - slippage), gross x (sold price / bought price) x (1 - tolerance) and, where there is a second
 * service, its output x (1 - tolerance). No reference can lower what another one asks for.
 * Never zero: a minimum of nothing protects nothing.
 */
export function requiredMinimum(terms: MinimumTerms): bigint {
  const byQuote = lessShareUp(terms.quotedOut, terms.slippage);
  const worth = convertUp({ raw: terms.gross, decimals: terms.sold.decimals, usd: terms.sold.usd }, terms.bought);
  const byReference = lessShareUp(worth, terms.tolerance);
  const bySecond = lessShareUp(terms.secondOut ?? 0n, terms.tolerance);
  return [byQuote, byReference, bySecond].reduce(larger, 1n);
}

/**
 * The largest slippage with which a quote of `quotedOut` still guarantees `minimum`, for asking once more.
 * @returns undefined when the quote itself is below the minimum, so that no slippage helps
 */
export function slippageGuaranteeing(minimum: bigint, quotedOut: bigint): Ppm | undefined {
  if (quotedOut < minimum || quotedOut <= 0n) return undefined;
  return toPpm(((quotedOut - minimum) * ONE_PPM) / quotedOut);
}
