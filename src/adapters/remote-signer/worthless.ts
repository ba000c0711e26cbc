import type { TypedData } from "../../domain/guard/typed-data.ts";
import type { Address } from "../../domain/money/address.ts";
import type { UnsignedTransaction } from "../../ports/signer.ts";

/** What a signer is tried out with. No contract knows this domain, and it names no chain. */
export const WORTHLESS_TYPED_DATA: TypedData = {
  domain: { name: "swapd tries its signer out", version: "1" },
  types: { Nothing: [{ name: "text", type: "string" }] },
  primaryType: "Nothing",
  message: { text: "this signature is worth nothing" },
};

/** Higher than any account ever counts: a protocol's own bound is one below 2^64 (EIP-2681), JavaScript's is this one. */
const UNREACHABLE_NONCE = Number.MAX_SAFE_INTEGER;

/** No block can hold it: it has no gas, of which each transaction needs 21,000, and offers nothing for it; it moves nothing. */
export function worthlessTransaction(account: Address, chainId: number): UnsignedTransaction {
  return {
    chainId,
    nonce: UNREACHABLE_NONCE,
    to: account,
    data: "0x",
    value: 0n,
    gasLimit: 0n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
  };
}
