import { type Address, type Hex, wordOf } from "../money/address.ts";

/** Selector of `approve(address,uint256)`. */
export const APPROVE = "0x095ea7b3";

/** Calldata of `approve(spender, amount)`. */
export function approval(spender: Address, amount: bigint): Hex {
  return `${APPROVE}${wordOf(spender).slice(2)}${amount.toString(16).padStart(64, "0")}`;
}
