import type { IntentState } from "../ports/lane-store.ts";

/**
 * All moves of an intent. `planned -> dropped` only while nothing was signed; `mined` and `confirmed` fall back to
 * `broadcast` when their block is reorganised away; a transaction may be seen mined before its broadcast is noted.
 */
export const INTENT_TRANSITIONS: Readonly<Record<IntentState, readonly IntentState[]>> = {
  planned: ["signed", "dropped"],
  signed: ["broadcast", "mined"],
  broadcast: ["mined"],
  mined: ["confirmed", "final", "broadcast"],
  confirmed: ["final", "broadcast"],
  final: [],
  dropped: [],
};

/** @throws Error when the table does not list the move: a broken invariant */
export function assertIntentTransition(from: IntentState, to: IntentState): void {
  if (!INTENT_TRANSITIONS[from].includes(to)) throw new Error(`invalid transition of an intent: ${from} -> ${to}`);
}
