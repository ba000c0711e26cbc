import type { AttemptState, IntentState } from "../ports/lane-store.ts";

/**
 * All moves of an intent. `planned -> dropped` only while nothing was signed; `mined` and `confirmed` fall back to
 * `broadcast` when their block is reorganised away; a transaction may be seen mined before its broadcast is noted.
 * What was never mined becomes `final` where a foreign transaction has its nonce and a person accepted that.
 */
export const INTENT_TRANSITIONS: Readonly<Record<IntentState, readonly IntentState[]>> = {
  planned: ["signed", "dropped"],
  signed: ["broadcast", "mined", "final"],
  broadcast: ["mined", "final"],
  mined: ["confirmed", "broadcast"],
  confirmed: ["final", "broadcast"],
  final: [],
  dropped: [],
};

/** All moves of an attempt. A revert is as provisional as a success: its block may go, and it is in flight again. */
export const ATTEMPT_TRANSITIONS: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  signed: ["broadcast", "mined", "replaced", "dropped"],
  broadcast: ["mined", "replaced", "dropped"],
  mined: ["confirmed", "reverted", "broadcast"],
  confirmed: ["broadcast"],
  reverted: ["broadcast"],
  replaced: [],
  dropped: [],
};

/** @throws Error when the table does not list the move: a broken invariant */
export function assertIntentTransition(from: IntentState, to: IntentState): void {
  if (!INTENT_TRANSITIONS[from].includes(to)) throw new Error(`invalid transition of an intent: ${from} -> ${to}`);
}

/** @throws Error when the table does not list the move: a broken invariant */
export function assertAttemptTransition(from: AttemptState, to: AttemptState): void {
  if (!ATTEMPT_TRANSITIONS[from].includes(to)) throw new Error(`invalid transition of an attempt: ${from} -> ${to}`);
}
