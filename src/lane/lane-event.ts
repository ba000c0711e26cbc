import type { Hex } from "../domain/money/address.ts";
import type { Receipt } from "../ports/chain.ts";
import type { IntentOutcome } from "../ports/lane-store.ts";

/**
 * What became of an intent. `mined` carries the receipt (which may say that it reverted); `final` its outcome in a
 * finalised block; `dropped` means that nothing was ever signed. A cancellation that is mined is told only by `final`.
 */
export interface LaneEvent {
  readonly intentId: string;
  readonly kind: "signed" | "broadcast" | "mined" | "confirmed" | "final" | "reorged" | "dropped" | "replaced";
  readonly hash?: Hex;
  readonly receipt?: Receipt;
  readonly outcome?: IntentOutcome;
  readonly reason?: string;
  /** who cancelled an intent before anything of it was signed */
  readonly cancelledBy?: string;
}

/** Hears of every move, synchronously, inside the transaction that writes it. */
export interface LaneListener {
  onIntent(event: LaneEvent): void;
  /**
   * No node has taken a transaction for as many blocks as one is given before its fees are raised; `detail` is what they
   * say. Undefined: it is over.
   */
  onRefused?(intentId: string, detail: string | undefined): void;
}
