import type { Hex } from "../../domain/money/address.ts";

/** First four bytes of the keccak hash of each signature of a token that the service reads with on its hot path. */
export const SELECTOR = {
  /** decimals() */
  decimals: "0x313ce567",
  /** balanceOf(address) */
  balanceOf: "0x70a08231",
  /** allowance(address,address) */
  allowance: "0xdd62ed3e",
  /** nonces(address) */
  nonces: "0x7ecebe00",
  /** DOMAIN_SEPARATOR() */
  domainSeparator: "0x3644e515",
} as const satisfies Record<string, Hex>;
