import type { Hex } from "../domain/money/address.ts";
import type { Receipt } from "./chain.ts";
import type { IntentOutcome } from "./lane-store.ts";

/**
 * What became of an intent. `mined` carries the receipt (which may say that it reverted); `final` its outcome in a
 * finalised block; `dropped` means that nothing was ever signed. A cancellation that is mined is reported only by `final`.
 */
export interface LaneEvent {
  readonly intentId: string;
  readonly kind: "signed" | "broadcast" | "mined" | "confirmed" | "final" | "reorged" | "dropped" | "replaced";
  readonly hash?: Hex;
  readonly receipt?: Receipt;
  readonly outcome?: IntentOutcome;
  readonly reason?: string;
  /** of a cancelled one: our empty transaction took its nonce, because no private endpoint brought it into a block */
  readonly keptBack?: true;
  /** of a cancelled or dropped one: who asked for that; undefined: nobody did, the lane ended it by itself */
  readonly cancelledBy?: string;
}

/**
 * No node has taken a transaction for as many blocks as one is given before its fees are raised, or it waits for a
 * nonce that is not used; `detail` is the text for a person. Undefined: it is over.
 */
export interface Refusal {
  readonly intentId: string;
  readonly detail: string | undefined;
}

/** Gets what lanes report, synchronously, inside the transaction that writes it. */
export interface LaneListener {
  onIntent(event: LaneEvent): void;
  onRefused?(refusal: Refusal): void;
}
