import type { Address } from "../../../domain/money/address.ts";
import type { Pool, PoolQuote, PoolState } from "../pool.ts";

const ONE_PIPS = 1_000_000n;

/** A pair stores its reserves in 112 bits and reverts beyond. */
const MAX_RESERVE = (1n << 112n) - 1n;

/** Gas of one hop through a pair: transfer in, swap, transfer out. Measured, rounded up. */
const PAIR_GAS = 105_000n;

/**
 * Output of a constant product pair, rounded down.
 * Formula: x * y = k after the fee was taken from the input: out = in' * y / (x + in'), in' = in * (1 - fee).
 * @returns 0 when the pair would revert or pay nothing
 */
function pairAmountOut(
  amountIn: bigint,
  reserves: { readonly reserveIn: bigint; readonly reserveOut: bigint; readonly feePips: number },
): bigint {
  const { reserveIn, reserveOut } = reserves;
  if (amountIn <= 0n || reserveIn <= 0n || reserveOut <= 0n || reserveIn + amountIn > MAX_RESERVE) return 0n;
  const amountInLessFee = amountIn * (ONE_PIPS - BigInt(reserves.feePips));
  return (amountInLessFee * reserveOut) / (reserveIn * ONE_PIPS + amountInLessFee);
}

/** A Uniswap V2 style pair with these reserves. */
export function pairState(pool: Pool, reserve0: bigint, reserve1: bigint): PoolState {
  return {
    pool,
    quote(tokenIn: Address, amountIn: bigint): PoolQuote {
      const zeroForOne = tokenIn === pool.token0;
      const [reserveIn, reserveOut] = zeroForOne ? [reserve0, reserve1] : [reserve1, reserve0];
      const amountOut = pairAmountOut(amountIn, { reserveIn, reserveOut, feePips: pool.feePips });
      if (amountOut === 0n) return { kind: "short" };
      const after = zeroForOne
        ? pairState(pool, reserve0 + amountIn, reserve1 - amountOut)
        : pairState(pool, reserve0 - amountOut, reserve1 + amountIn);
      return { kind: "filled", amountOut, after, gas: PAIR_GAS };
    },
    spot(tokenIn: Address) {
      return tokenIn === pool.token0
        ? { numerator: reserve1, denominator: reserve0 }
        : { numerator: reserve0, denominator: reserve1 };
    },
  };
}
