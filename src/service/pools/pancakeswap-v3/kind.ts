import { BACK_TO_VALUE_REFUND, CHANGE_SLOT, COLD_SLOT } from "../../gas/evm-gas.ts";
import { concentratedKind } from "../uniswap-v3/concentrated-kind.ts";

/**
 * The lock lies in a slot apart from the price, since the protocol's fee needs more room; that fee is set from the first
 * day, and its sum changes with each trade; and the pool looks whether liquidity is mined in it.
 */
const EXTRA_SLOTS = COLD_SLOT + CHANGE_SLOT + (COLD_SLOT + CHANGE_SLOT) + COLD_SLOT;

/** Where liquidity is mined, a contract of PancakeSwap's is told of each trade, and of each tick that it crosses. */
const MINING = 150_000n;

/** Pools of PancakeSwap V3: the curve is that of Uniswap V3, with other tiers, slots, callbacks and another deployer. */
export const pancakeswapV3 = concentratedKind({
  number: 4,
  source: "pancakeswap-v3",
  tiers: [100, 500, 2_500, 10_000],
  extraGas: EXTRA_SLOTS - BACK_TO_VALUE_REFUND,
  refund: BACK_TO_VALUE_REFUND,
  room: 60_000n + MINING,
  router: { form: "v3", maker: "pancakeswap" },
});
