import type { TypedData } from "../domain/guard/typed-data.ts";
import type { Address, Hex } from "../domain/money/address.ts";

/** An EIP-1559 transaction before it is signed; all amounts in wei. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Holds one key. Signing is deterministic (RFC 6979): the same input gives the same bytes after a restart. */
export interface Signer {
  readonly address: Address;
  /** true: the account is only watched, so that nothing may be signed for it */
  readonly isWatched?: boolean | undefined;
  signTransaction(transaction: UnsignedTransaction): Promise<{ raw: Hex; hash: Hex }>;
  /** Signs EIP-712 typed data, low-s, 65 bytes, v 27 or 28. `types` is without EIP712Domain. */
  signTypedData(typedData: TypedData): Promise<Hex>;
}
