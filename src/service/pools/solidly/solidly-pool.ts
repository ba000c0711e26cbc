import type { Address } from "../../../domain/money/address.ts";
import { MAX_UINT256 } from "../../../domain/money/amount.ts";
import type { Pool, PoolQuote, PoolState } from "../pool.ts";
import { invariantOf, ONE, stableOutput, stableSlope } from "./stable-curve.ts";

/** Fees are parts of so many. */
export const FEE_ONE = 10_000n;

/** A pool as it stands in a block: reserves in smallest units, the fee in parts of {@link FEE_ONE}. */
export interface SolidlyBalances {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  readonly fee: bigint;
}

/** What a whole coin of each token is in its smallest units; absent of pools of two tokens of any worth. */
export interface StableUnits {
  readonly unit0: bigint;
  readonly unit1: bigint;
}

/** Output before it is paid: rounded down, none where the pool would revert. */
type Curve = (balances: SolidlyBalances, zeroForOne: boolean, amountIn: bigint) => bigint | undefined;

/** x * y = k: out = in * y / (x + in). */
const volatileOutput: Curve = ({ reserve0, reserve1 }, zeroForOne, amountIn) => {
  const [reserveIn, reserveOut] = zeroForOne ? [reserve0, reserve1] : [reserve1, reserve0];
  if (amountIn * reserveOut > MAX_UINT256 || (reserveIn + amountIn) * reserveOut > MAX_UINT256) return undefined;
  return (amountIn * reserveOut) / (reserveIn + amountIn);
};

function stableCurve(units: StableUnits): Curve {
  return (balances, zeroForOne, amountIn) => {
    const sides = sidesOf(balances, units, zeroForOne);
    const invariant = invariantOf(sides.reserveIn, sides.reserveOut);
    if (invariant === undefined) return undefined;
    const [unitIn, unitOut] = zeroForOne ? [units.unit0, units.unit1] : [units.unit1, units.unit0];
    const output = stableOutput(sides, (amountIn * ONE) / unitIn, invariant);
    return output === undefined ? undefined : (output * unitOut) / ONE;
  };
}

function sidesOf({ reserve0, reserve1 }: SolidlyBalances, { unit0, unit1 }: StableUnits, zeroForOne: boolean) {
  const [side0, side1] = [(reserve0 * ONE) / unit0, (reserve1 * ONE) / unit1];
  return zeroForOne ? { reserveIn: side0, reserveOut: side1 } : { reserveIn: side1, reserveOut: side0 };
}

/** No reserve of a real pool is larger, and no sum of amounts overflows. */
const MAX_AMOUNT = 1n << 128n;

/** A pool with these balances, which charges each leg so much gas. */
export function solidlyState(
  pool: Pool,
  balances: SolidlyBalances,
  terms: { readonly units: StableUnits | undefined; readonly gas: bigint },
): PoolState {
  const { reserve0, reserve1, fee } = balances;
  const { units, gas } = terms;
  const curve = units === undefined ? volatileOutput : stableCurve(units);
  return {
    pool,
    quote(tokenIn: Address, amountIn: bigint): PoolQuote {
      if (amountIn <= 0n || amountIn > MAX_AMOUNT) return { kind: "short" };
      const zeroForOne = tokenIn === pool.token0;
      // The fee goes to a contract of its own: the pool keeps nothing of it.
      const kept = amountIn - (amountIn * fee) / FEE_ONE;
      const amountOut = curve(balances, zeroForOne, kept);
      if (amountOut === undefined || amountOut === 0n) return { kind: "short" };
      if (amountOut >= (zeroForOne ? reserve1 : reserve0)) return { kind: "short" };
      const moved = zeroForOne
        ? { reserve0: reserve0 + kept, reserve1: reserve1 - amountOut }
        : { reserve0: reserve0 - amountOut, reserve1: reserve1 + kept };
      return { kind: "filled", amountOut, after: solidlyState(pool, { ...moved, fee }, terms), gas };
    },
    spot(tokenIn: Address) {
      const zeroForOne = tokenIn === pool.token0;
      if (units === undefined) {
        const [reserveIn, reserveOut] = zeroForOne ? [reserve0, reserve1] : [reserve1, reserve0];
        return { numerator: reserveOut, denominator: reserveIn };
      }
      const { numerator, denominator } = stableSlope(sidesOf(balances, units, zeroForOne));
      const [unitIn, unitOut] = zeroForOne ? [units.unit0, units.unit1] : [units.unit1, units.unit0];
      return { numerator: numerator * unitOut, denominator: denominator * unitIn };
    },
  };
}
