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

/**
 * Signs for one account. Two signatures of the same content may differ: a signer elsewhere may draw a number at random for
 * each. So whoever asks stores the answer before anybody else sees it, and asks again only while nothing is stored: what
 * was made and not stored has the same nonce, or the same digest, and at most one of the two is ever worth something.
 * An answer takes about a second at most; who holds no transaction open meanwhile holds nothing up.
 * @throws SigningError when there is no signature now: whoever asks, asks again, as long as its own time allows
 */
export interface Signer {
  readonly address: Address;
  /** true: the account is only watched, so that nothing may be signed for it */
  readonly isWatched?: boolean | undefined;
  signTransaction(transaction: UnsignedTransaction): Promise<{ raw: Hex; hash: Hex }>;
  /** Signs EIP-712 typed data, low-s, 65 bytes, v 27 or 28. `types` is without EIP712Domain. */
  signTypedData(typedData: TypedData): Promise<Hex>;
}
