import { MAX_UINT256 } from "../../../domain/money/amount.ts";

/** Balances of both tokens of a stable pool with 18 decimals. */
export interface StableSides {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
}

export const ONE = 10n ** 18n;

const ROUNDS = 255;

/** Where the pool's arithmetic would overflow it reverts: no answer then. */
function fits(...values: readonly bigint[]): boolean {
  return values.every((value) => value >= 0n && value <= MAX_UINT256);
}

/** xy(x^2 + y^2), with the pools' roundings; undefined where a pool would revert. */
export function invariantOf(x: bigint, y: bigint): bigint | undefined {
  const product = (x * y) / ONE;
  const squares = (x * x) / ONE + (y * y) / ONE;
  return fits(x * y, x * x, y * y, product * squares) ? (product * squares) / ONE : undefined;
}

/** How fast the invariant grows with y: 3xy^2 + x^3. */
function growth(x: bigint, y: bigint): bigint | undefined {
  const tripled = 3n * x * ((y * y) / ONE);
  const cubed = ((x * x) / ONE) * x;
  return fits(tripled, cubed) ? tripled / ONE + cubed / ONE : undefined;
}

/** One step of Newton's iteration: another y, or the last one; undefined where a pool would revert. */
function nextY(x: bigint, invariant: bigint, y: bigint): { readonly y: bigint; readonly isLast: boolean } | undefined {
  const [now, slope] = [invariantOf(x, y), growth(x, y)];
  if (now === undefined || slope === undefined || slope === 0n) return undefined;
  const isBelow = now < invariant;
  const missing = (isBelow ? invariant - now : now - invariant) * ONE;
  if (!fits(missing)) return undefined;
  const step = missing / slope;
  if (step > 0n) return { y: isBelow ? y + step : y - step, isLast: false };
  // Versions of the pools differ by one here, and only with amounts of dust is it reached: such are not quoted.
  if (isBelow || y === 0n) return undefined;
  const below = invariantOf(x, y - 1n);
  const isLast = now === invariant || (below !== undefined && below < invariant);
  return { y: isLast ? y : y - 1n, isLast };
}

/** What remains of the token that goes out when x of the other is there; undefined where a pool would revert. */
function remaining(x: bigint, invariant: bigint, start: bigint): bigint | undefined {
  let y = start;
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = nextY(x, invariant, y);
    if (next === undefined || next.y < 0n) return undefined;
    if (next.isLast) return next.y;
    y = next.y;
  }
  return undefined;
}

/**
 * Output of a stable pool along xy(x^2 + y^2) = k, in 18 decimals, before its token's own are cut off.
 * @param invariant k of the pool as it stands
 * @returns undefined where a pool would revert, and for some amounts in pools of a few coins
 */
export function stableOutput(sides: StableSides, amountIn: bigint, invariant: bigint): bigint | undefined {
  const { reserveIn, reserveOut } = sides;
  const left = remaining(reserveIn + amountIn, invariant, reserveOut);
  return left === undefined || left > reserveOut ? undefined : reserveOut - left;
}

/** Price of an infinitely small trade, out per in, both with 18 decimals: the ratio of the invariant's slopes. */
export function stableSlope({ reserveIn: x, reserveOut: y }: StableSides): {
  readonly numerator: bigint;
  readonly denominator: bigint;
} {
  return { numerator: (3n * x * x + y * y) * y, denominator: (x * x + 3n * y * y) * x };
}
