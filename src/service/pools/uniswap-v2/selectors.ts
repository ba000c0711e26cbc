import type { Hex } from "../../../domain/money/address.ts";

/** Selectors of factories and pairs of Uniswap V2. */
export const V2_SELECTOR = {
  /** getPair(address,address) */
  getPair: "0xe6a43905",
  /** getReserves() */
  getReserves: "0x0902f1ac",
} as const satisfies Record<string, Hex>;
