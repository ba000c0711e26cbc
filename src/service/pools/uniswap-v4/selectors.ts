import type { Hex } from "../../../domain/money/address.ts";

/** Selectors of Uniswap V4's pool manager. */
export const V4_SELECTOR = {
  /** extsload(bytes32) */
  extsload: "0x1e2eaeaf",
  /** extsload(bytes32,uint256) */
  extsloadMany: "0x35fd631a",
} as const satisfies Record<string, Hex>;
