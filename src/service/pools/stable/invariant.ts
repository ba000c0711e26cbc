import { MAX_UINT256 } from "../../../domain/money/amount.ts";
/** Balances made comparable (18 decimals) and the amplification of a pool of two coins along the StableSwap invariant. */
export interface StableReserves {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  /** A in hundredths, as the pools report it */
  readonly amplification: bigint;
}

const A_ONE = 100n;
const ROUNDS = 255;

/** Where the chain's arithmetic would overflow the pool reverts: no answer then. */
function fits(...products: readonly bigint[]): boolean {
  return products.every((product) => product >= 0n && product <= MAX_UINT256);
}

function isClose(a: bigint, b: bigint): boolean {
  return a > b ? a - b <= 1n : b - a <= 1n;
}

/**
 * D of 4A(x + y) + D = 4AD + D^3 / 4xy, by Newton's iteration with the pools' roundings.
 * @returns undefined where a pool would revert
 */
function invariantOf(reserves: StableReserves): bigint | undefined {
  const { reserveIn: x, reserveOut: y, amplification } = reserves;
  if (x <= 0n || y <= 0n) return undefined;
  const sum = x + y;
  const ann = amplification * 2n;
  if (ann <= A_ONE || !fits(ann * sum)) return undefined;
  let d = sum;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (!fits(d * d)) return undefined;
    const once = (d * d) / (x * 2n);
    if (!fits(once * d)) return undefined;
    const product = (once * d) / (y * 2n);
    const factor = (ann * sum) / A_ONE + product * 2n;
    if (!fits(factor * d, (ann - A_ONE) * d)) return undefined;
    const next = (factor * d) / (((ann - A_ONE) * d) / A_ONE + 3n * product);
    if (isClose(next, d)) return next;
    d = next;
  }
  return undefined;
}

/** What is left of the coin that goes out when the other balance is x, on the same invariant. */
function reserveAfter(x: bigint, d: bigint, amplification: bigint): bigint | undefined {
  const ann = amplification * 2n;
  const once = (d * d) / (x * 2n);
  if (!fits(once * d, once * d * A_ONE)) return undefined;
  const c = (once * d * A_ONE) / (ann * 2n);
  const b = x + (d * A_ONE) / ann;
  let y = d;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (!fits(y * y + c, 2n * y + b - d)) return undefined;
    const next = (y * y + c) / (2n * y + b - d);
    if (isClose(next, y)) return next;
    y = next;
  }
  return undefined;
}

/** Output before the fee, rounded against the trader; undefined where the pool would revert. */
export function grossOutput(reserves: StableReserves, amountIn: bigint): bigint | undefined {
  const d = invariantOf(reserves);
  if (d === undefined) return undefined;
  const left = reserveAfter(reserves.reserveIn + amountIn, d, reserves.amplification);
  // One less, in case rounding went against the pool.
  const gross = left === undefined ? -1n : reserves.reserveOut - left - 1n;
  return gross > 0n ? gross : undefined;
}

/**
 * Price of an infinitely small trade before the fee, out per in.
 * Formula: (4A + D^3 / 4x^2y) / (4A + D^3 / 4xy^2), the ratio of the invariant's slopes, freed of its denominators.
 */
export function slope(reserves: StableReserves): { readonly numerator: bigint; readonly denominator: bigint } {
  const { reserveIn: x, reserveOut: y, amplification } = reserves;
  const d = invariantOf(reserves) ?? 0n;
  const straight = 8n * amplification * x * x * y * y;
  const curved = A_ONE * d * d * d;
  return { numerator: straight + curved * y, denominator: straight + curved * x };
}
