import type { PoolKind } from "../pool.ts";
import { uniswapV2 } from "../uniswap-v2/kind.ts";

/** Pairs of PancakeSwap: those of Uniswap V2 with another fee, to which another public router leads. */
export const pancakeswapV2: PoolKind = {
  ...uniswapV2,
  number: 5,
  source: "pancakeswap-v2",
  router: { form: "v2", maker: "pancakeswap" },
};
