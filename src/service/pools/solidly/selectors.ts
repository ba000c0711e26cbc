import type { Hex } from "../../../domain/money/address.ts";

/** Selectors of Solidly's factories and pools. */
export const SOLIDLY_SELECTOR = {
  /** getPool(address tokenA, address tokenB, bool stable) */
  getPool: "0x79bc57d5",
  /** getFee(address pool, bool stable): in parts of 10,000 */
  getFee: "0xcc56b2c5",
  /** isPaused() */
  isPaused: "0xb187bd26",
  /** metadata(): what a whole coin of each token is, both reserves, whether it is a stable pool, both tokens */
  metadata: "0x392f37e9",
  /** getReserves() */
  getReserves: "0x0902f1ac",
  /** getAmountOut(uint256 amountIn, address tokenIn) */
  getAmountOut: "0xf140a35a",
} as const satisfies Record<string, Hex>;
