import type { Address } from "../../../domain/money/address.ts";
import {
  BACK_TO_VALUE_REFUND,
  CHANGE_SLOT,
  COLD_ACCOUNT,
  COLD_SLOT,
  WARM_ACCOUNT,
  WARM_SLOT,
} from "../../gas/evm-gas.ts";
import { BALANCE, COMPUTED, HOP_FRAME } from "../../gas/hop-gas.ts";
import type { Pool, PoolQuote, PoolState } from "../pool.ts";

const ONE_PIPS = 1_000_000n;

/** A pair stores its reserves in 112 bits and reverts beyond. */
const MAX_RESERVE = (1n << 112n) - 1n;

/** Slots of a pair: its lock, reserves and two accumulators change (these once a second), its tokens are read. */
const PAIR_SLOTS = 4n * (COLD_SLOT + CHANGE_SLOT) + 2n * COLD_SLOT + 4n * WARM_SLOT;

/** The pair's lock ends as it began. */
export const PAIR_REFUND = BACK_TO_VALUE_REFUND;

/**
 * Gas of a leg through a pair: work of the executor and of the pair, the pair's two logs, five reads of balances. A
 * pair that never traded uses 34,200 more: its accumulators are zero. From traces of the contracts of Uniswap and ours.
 */
export const PAIR_GAS =
  HOP_FRAME +
  COMPUTED +
  7_100n +
  COLD_ACCOUNT +
  WARM_ACCOUNT +
  5_150n +
  PAIR_SLOTS +
  3_786n +
  5n * BALANCE -
  PAIR_REFUND;

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
