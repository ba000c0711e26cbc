import type { SafeCall } from "../domain/guard/multi-send.ts";
import type { TypedData } from "../domain/guard/typed-data.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import type { Signer } from "./signer.ts";

/** What the owners of a Safe are asked for, as it was written down. */
export interface PublishedProposal {
  readonly swapId: string;
  readonly safe: Address;
  readonly chainId: number;
  /** what owners sign, and its EIP-712 hash */
  readonly typedData: TypedData;
  readonly hash: Hex;
  readonly nonce: bigint;
  readonly calls: readonly SafeCall[];
  /** Unix seconds; executed later it reverts */
  readonly deadlineSeconds: number;
  /** what it does, in one sentence */
  readonly purpose: string;
  /** the proposer's, undefined where it leaves without one */
  readonly signature: Hex | undefined;
}

/** What came of publishing. Where it was not delivered for sure, somebody may have it all the same: the chain says. */
export type PublishOutcome = { readonly kind: "published" } | { readonly kind: "undelivered"; readonly detail: string };

/** A Safe whose owners are asked. Nothing here can execute anything. */
export interface Treasury {
  readonly safe: Address;
  /** whether its nonce leaves with a proposal; else owners choose one */
  readonly bindsNonce: boolean;
  /** signs what is proposed, where the place asks for it; it has no power over the Safe */
  readonly proposer: Signer | undefined;
  /** The first nonce that nothing there waits for, as far as it is known. A hint. */
  freeNonce(next: bigint): Promise<bigint>;
  /** Shows a proposal to the owners. The same one may be published again, whatever came of it before. */
  publish(proposal: PublishedProposal): Promise<PublishOutcome>;
}
