import type { Interface, Result } from "ethers";
import type { Hex } from "../../domain/money/address.ts";

/** The arguments of a call, or why these bytes are none of the pinned function. */
type PinnedCallResult = { readonly ok: true; readonly args: Result } | { readonly ok: false; readonly problem: string };

/**
 * Reads a call of one pinned function. What was read is encoded again and must give the same bytes, so nothing hides in
 * padding, in reordered tails or behind the end.
 * @throws Error when the contract has no such function
 */
export function readPinnedCall(contract: Interface, name: string, data: Hex): PinnedCallResult {
  const selector = contract.getFunction(name)?.selector;
  if (selector === undefined) throw new Error(`the pinned contract has no function ${name}`);
  if (data.slice(0, 10) !== selector) {
    return { ok: false, problem: `the selector is ${data.slice(0, 10)}, only ${name} (${selector}) is known` };
  }
  try {
    const args = contract.decodeFunctionData(name, data);
    if (contract.encodeFunctionData(name, args) === data) return { ok: true, args };
    return { ok: false, problem: `the calldata of ${name} carries bytes that its arguments do not explain` };
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 80) : `not the ABI of ${name}`;
    return { ok: false, problem: `the calldata of ${name} cannot be decoded: ${reason}` };
  }
}
