import { CHANGE_SLOT, COLD_SLOT } from "../../gas/evm-gas.ts";
import { concentratedHopGas, type HopGas, LEAST_HOP_GAS } from "../uniswap-v3/swap-gas.ts";

/**
 * What a swap costs more than in a pool of Uniswap with the same curve: each pool is a proxy, its fee is asked of the
 * factory and of its module, and staked liquidity is counted. From traces of the contracts compiled from their source.
 */
const PROXY_AND_FEE = 38_700n;

/** What staked liquidity is owed of the fee is written down. */
const STAKED_FEES = COLD_SLOT + CHANGE_SLOT;

/** Rewards are counted once for all ticks, and written down at each. */
const REWARDS = COLD_SLOT + CHANGE_SLOT;

/** What every leg adds. */
export const LEAST_SLIPSTREAM_HOP_GAS = LEAST_HOP_GAS + PROXY_AND_FEE;

/** Gas that a leg in a pool of Slipstream is expected to add. */
export const slipstreamHopGas: HopGas = (trail) => {
  const rewards = trail.crossed === 0 ? 0n : BigInt(1 + trail.crossed) * REWARDS;
  return concentratedHopGas(trail) + PROXY_AND_FEE + STAKED_FEES + rewards;
};
