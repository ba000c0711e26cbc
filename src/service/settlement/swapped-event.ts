import type { Address } from "../../domain/money/address.ts";
import type { ChainLog } from "../../ports/chain.ts";
import { SETTLEMENT_INTERFACE } from "./calldata.ts";

/**
 * What the recipient of an order really got, from the contract's own event.
 * @returns undefined when the logs have no fill of this order
 */
export function filledAmount(
  logs: readonly ChainLog[],
  order: { readonly settlement: Address; readonly owner: Address; readonly nonce: bigint },
): bigint | undefined {
  for (const { address, topics, data } of logs) {
    if (address.toLowerCase() !== order.settlement) continue;
    const event = SETTLEMENT_INTERFACE.parseLog({ topics: [...topics], data });
    if (event?.name !== "Swapped") continue;
    const { owner, nonce, amountOut } = event.args;
    if (String(owner).toLowerCase() === order.owner && nonce === order.nonce) return BigInt(amountOut);
  }
  return undefined;
}
