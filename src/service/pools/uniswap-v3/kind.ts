import { concentratedKind } from "./concentrated-kind.ts";

/** Pools of a Uniswap V3 style factory. */
export const uniswapV3 = concentratedKind({
  number: 2,
  source: "uniswap-v3",
  // Those of the network.
  tiers: [],
  extraGas: 0n,
  // A pool's lock lies in a slot that changes anyway.
  refund: 0n,
  // Ticks may come under way until the block.
  room: 60_000n,
  leg: { executorKind: 2, fee: (pool) => pool.feePips, found: "computed" },
  router: { form: "v3", maker: "uniswap" },
});
