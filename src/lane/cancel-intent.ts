import type { IntentState } from "../ports/lane-store.ts";
import type { LaneDecided, SigningRows } from "../ports/lane-unit-of-work.ts";

/** What became of a person's request to cancel an intent. */
export type CancelAnswer =
  /** nothing of it was signed: it is dropped at the lane's next turn */
  | { readonly kind: "dropping" }
  /** a self-transfer takes part in the race for its nonce; the chain decides which one lands */
  | { readonly kind: "cancelling"; readonly nonce: number }
  | { readonly kind: "asked before"; readonly by: string }
  /** it is in a block, or over: there is nothing left to cancel */
  | { readonly kind: "too late"; readonly state: IntentState }
  /** a transaction that a person accepted with the account's others has its nonce: what became of it is still to be found */
  | { readonly kind: "nonce used"; readonly nonce: number }
  /** it was signed, and its account may not sign a cancellation now */
  | { readonly kind: "barred" }
  | { readonly kind: "not here" };

/**
 * Decides on a cancel request and writes its row; the lane's own turn carries it out, so that it never comes between a
 * signature and its row. It stays true: where a reorganisation brings the intent back, it is cancelled all the same.
 * @param rows of the intent that is to be cancelled
 */
export function decideCancel(
  rows: SigningRows,
  { by, atMs }: { readonly by: string; readonly atMs: number },
): LaneDecided<CancelAnswer> {
  const { intent, cancelRequest, maySign, acceptedCount } = rows;
  const answered = (value: CancelAnswer): LaneDecided<CancelAnswer> => ({ changes: [], atMs, value });
  if (intent === undefined) return answered({ kind: "not here" });
  const { state, nonce } = intent;
  if (state !== "planned" && state !== "signed" && state !== "broadcast") return answered({ kind: "too late", state });
  if (cancelRequest !== undefined) return answered({ kind: "asked before", by: cancelRequest.by });
  const isSigned = state !== "planned" && nonce !== undefined;
  if (isSigned && nonce < acceptedCount) return answered({ kind: "nonce used", nonce });
  if (isSigned && !maySign) return answered({ kind: "barred" });
  const value: CancelAnswer = isSigned ? { kind: "cancelling", nonce } : { kind: "dropping" };
  return { changes: [{ kind: "cancel-wish", cancelRequest: { intentId: intent.id, by, atMs } }], atMs, value };
}
