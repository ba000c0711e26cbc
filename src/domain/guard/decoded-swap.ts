import type { Address, Hex } from "../money/address.ts";
import type { StatedContracts, SwapContracts } from "./swap-contracts.ts";

/**
 * What a swap signature or a swap transaction says, decoded by a pinned decoder, in the words of the service interface.
 * gross = amountIn + swapFee + affiliateFee is what leaves the owner.
 */
export interface DecodedSwap {
  /** those of the contracts that the form itself names; an order names its verifying contract at least */
  readonly contracts: StatedContracts;
  /** who must call the target; undefined where the form does not say */
  readonly sender: Address | undefined;
  readonly recipient: Address;
  readonly fromAsset: Address;
  readonly toAsset: Address;
  /** Unix seconds */
  readonly deadline: bigint;
  readonly amountOutMin: bigint;
  readonly swapFee: bigint;
  readonly amountIn: bigint;
  /** undefined where the signature has no nonce */
  readonly nonce: bigint | undefined;
  readonly affiliate: { readonly address: Address; readonly fee: bigint } | undefined;
  /** spending limit that the call itself would set by a permit inside its calldata; undefined: none */
  readonly permitValue: bigint | undefined;
}

/** All that leaves the owner, in the sold token's smallest unit. */
export function grossOf({
  amountIn,
  swapFee,
  affiliate,
}: Pick<DecodedSwap, "amountIn" | "swapFee" | "affiliate">): bigint {
  return amountIn + swapFee + (affiliate?.fee ?? 0n);
}

/** A decoder's answer: the fields, or why these bytes are not what it knows. */
export type Decoding =
  | { readonly ok: true; readonly swap: DecodedSwap }
  | { readonly ok: false; readonly problem: string };

/** One hop of a route, in the words of our settlement contract. A route is simulated, never signed and never sent. */
export interface RouteLeg {
  readonly protocol: bigint;
  readonly pool: Address;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** pool fee or another number that the protocol needs */
  readonly fee: bigint;
  /** share of what is then held of `tokenIn`, in the contract's unit */
  readonly portion: bigint;
}

/** Where on a network a service's swaps settle: pinned by the operator or a preset, never learnt from the service. */
export interface PinnedSettlement {
  readonly chainId: number;
  readonly contracts: SwapContracts;
  readonly wrappedNative: Address;
  /** who signs transactions for the service, where it does and the operator names another account than the profile */
  readonly signer?: Address | undefined;
}

/** A transaction as a service proposes it; its gas and fees are only compared, never used. */
export interface ProposedTransaction {
  readonly from: Address | undefined;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly chainId: number;
  readonly gasLimit: bigint | undefined;
}
