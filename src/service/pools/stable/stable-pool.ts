import type { Address } from "../../../domain/money/address.ts";
import { BACK_TO_ZERO_REFUND, COLD_ACCOUNT, COLD_SLOT, FILL_SLOT, WARM_ACCOUNT, WARM_SLOT } from "../../gas/evm-gas.ts";
import { ASKED, BALANCE, HOP_FRAME } from "../../gas/hop-gas.ts";
import type { Pool, PoolQuote, PoolState } from "../pool.ts";
import { grossOutput, slope } from "./invariant.ts";

/** What moves in a stable pool; balances in the smallest units of their coins, fees in parts of 1e10. */
export interface StableBalances {
  readonly balance0: bigint;
  readonly balance1: bigint;
  readonly amplification: bigint;
  readonly fee: bigint;
  /** the part of each fee that leaves the pool's balances */
  readonly adminFee: bigint;
}

/** What makes the smallest unit of each coin comparable: 10^(36 - decimals). */
export interface StableRates {
  readonly rate0: bigint;
  readonly rate1: bigint;
}

const ONE = 10n ** 18n;
const FEE_ONE = 10n ** 10n;

/** No balance of a real pool is larger, and no product of smaller ones overflows on its way. */
const MAX_AMOUNT = 1n << 128n;

/** The approval goes from nothing to the amount and back. */
export const STABLE_REFUND = BACK_TO_ZERO_REFUND;

/**
 * Gas of a leg: work of the executor, the approval (call, slot, log, work, a read of it afterwards), the factory's
 * second answer (with the pool's coins), and the exchange with its two iterations. From traces of the pool in
 * contracts/src/sandbox; the real ones are many, and those in Vyper use up to 20,000 more or less.
 */
const APPROVAL = 2n * WARM_ACCOUNT + COLD_SLOT + FILL_SLOT + 3n * WARM_SLOT + 1_756n + 2_100n;
const COINS = WARM_ACCOUNT + 2n * COLD_SLOT + COLD_SLOT + COLD_ACCOUNT + WARM_ACCOUNT + 1_800n;
const EXCHANGE = WARM_ACCOUNT + 2n * (COLD_SLOT + 2_900n) + 4n * WARM_SLOT + 16_050n;
export const STABLE_GAS = HOP_FRAME + ASKED + 7_250n + APPROVAL + COINS + EXCHANGE + BALANCE - STABLE_REFUND;

interface Output {
  readonly amountOut: bigint;
  /** what leaves the pool's balance besides the output */
  readonly adminPart: bigint;
}

function outputOf(balances: StableBalances, rates: StableRates, zeroForOne: boolean, amountIn: bigint) {
  const { balance0, balance1, amplification, fee, adminFee } = balances;
  const [balanceIn, balanceOut] = zeroForOne ? [balance0, balance1] : [balance1, balance0];
  const [rateIn, rateOut] = zeroForOne ? [rates.rate0, rates.rate1] : [rates.rate1, rates.rate0];
  const reserves = { reserveIn: (rateIn * balanceIn) / ONE, reserveOut: (rateOut * balanceOut) / ONE, amplification };
  const gross = grossOutput(reserves, (amountIn * rateIn) / ONE);
  if (gross === undefined) return undefined;
  const charged = (gross * fee) / FEE_ONE;
  const amountOut = ((gross - charged) * ONE) / rateOut;
  const adminPart = (((charged * adminFee) / FEE_ONE) * ONE) / rateOut;
  return { amountOut, adminPart } satisfies Output;
}

/** A stable pool of two coins with these balances. */
export function stablePoolState(pool: Pool, balances: StableBalances, rates: StableRates): PoolState {
  const { balance0, balance1 } = balances;
  return {
    pool,
    quote(tokenIn: Address, amountIn: bigint): PoolQuote {
      if (amountIn <= 0n || amountIn > MAX_AMOUNT) return { kind: "short" };
      const zeroForOne = tokenIn === pool.token0;
      const output = outputOf(balances, rates, zeroForOne, amountIn);
      if (output === undefined || output.amountOut === 0n) return { kind: "short" };
      const { amountOut } = output;
      const gone = amountOut + output.adminPart;
      const moved = zeroForOne
        ? { balance0: balance0 + amountIn, balance1: balance1 - gone }
        : { balance0: balance0 - gone, balance1: balance1 + amountIn };
      const after = stablePoolState(pool, { ...balances, ...moved }, rates);
      return { kind: "filled", amountOut, after, gas: STABLE_GAS };
    },
    spot(tokenIn: Address) {
      const zeroForOne = tokenIn === pool.token0;
      const [balanceIn, balanceOut] = zeroForOne ? [balance0, balance1] : [balance1, balance0];
      const [rateIn, rateOut] = zeroForOne ? [rates.rate0, rates.rate1] : [rates.rate1, rates.rate0];
      const { amplification } = balances;
      const reserveIn = (rateIn * balanceIn) / ONE;
      const { numerator, denominator } = slope({ reserveIn, reserveOut: (rateOut * balanceOut) / ONE, amplification });
      return { numerator: numerator * rateIn, denominator: denominator * rateOut };
    },
  };
}
