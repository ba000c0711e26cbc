import type { IntentState } from "../ports/lane-store.ts";
import type { LaneDeps, LaneOptions } from "./lane-context.ts";

/** What came of a person's wish to cancel an intent. */
export type CancelAnswer =
  /** nothing of it was signed: it is dropped at the lane's next turn */
  | { readonly kind: "dropping" }
  /** a self-transfer takes part in the race for its nonce; the chain decides which one lands */
  | { readonly kind: "cancelling"; readonly nonce: number }
  | { readonly kind: "asked before"; readonly by: string }
  /** it is in a block, or over: there is nothing left to cancel */
  | { readonly kind: "too late"; readonly state: IntentState }
  /** it was signed, and its account may not sign a cancellation now */
  | { readonly kind: "barred" }
  | { readonly kind: "not here" };

/**
 * Writes the wish down; the lane's own turn carries it out, so that it never comes between a signature and its row. It
 * stays true: where a reorganisation brings the intent back, it is cancelled all the same.
 */
export function wishCancel(options: LaneOptions, deps: LaneDeps, wish: { id: string; by: string }): CancelAnswer {
  const { store, clock } = deps;
  const { account, chainId } = options;
  const intent = store.intent(wish.id);
  if (intent === undefined || intent.account !== account || intent.chainId !== chainId) return { kind: "not here" };
  const { state, nonce } = intent;
  if (state !== "planned" && state !== "signed" && state !== "broadcast") return { kind: "too late", state };
  const before = store.cancelWish(wish.id);
  if (before !== undefined) return { kind: "asked before", by: before.by };
  const isSigned = state !== "planned" && nonce !== undefined;
  const isBarred = store.halt(account, chainId) !== undefined || options.signing?.(wish.id) === false;
  if (isSigned && isBarred) return { kind: "barred" };
  store.wishCancel({ intentId: wish.id, by: wish.by, atMs: clock.nowMs() });
  return isSigned ? { kind: "cancelling", nonce } : { kind: "dropping" };
}
