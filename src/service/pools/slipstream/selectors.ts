import type { Hex } from "../../../domain/money/address.ts";

/** Selectors of Slipstream's factories and pools where they are not those of Uniswap V3. */
export const SLIPSTREAM_SELECTOR = {
  /** getPool(address,address,int24) */
  getPool: "0x28af8d0b",
  /** tickSpacings() */
  tickSpacings: "0x9cbbbe86",
  /** fee() */
  fee: "0xddca3f43",
} as const satisfies Record<string, Hex>;
