import type { Hex } from "../../../domain/money/address.ts";

/** Selectors of factories and pools of Uniswap V3. */
export const V3_SELECTOR = {
  /** getPool(address,address,uint24) */
  getPool: "0x1698ee82",
  /** feeAmountTickSpacing(uint24) */
  feeAmountTickSpacing: "0x22afcccb",
  /** slot0() */
  slot0: "0x3850c7bd",
  /** liquidity() */
  liquidity: "0x1a686502",
  /** tickBitmap(int16) */
  tickBitmap: "0x5339c296",
  /** ticks(int24) */
  ticks: "0xf30dba93",
} as const satisfies Record<string, Hex>;
