import type { Hex } from "../domain/money/address.ts";

/** A number as nodes take it. */
export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}
