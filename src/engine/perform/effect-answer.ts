import type { RunEvent } from "../../domain/run/events.ts";

/**
 * The answer of an effect. `stale`: the reading was overtaken by a commit and must be made again. `unsigned`: the signer
 * gave no signature, `unsent`: nothing was handed over now, and may be later; both are tried again after a while.
 * `held-back`: nothing is submitted by this effect; to the run it is a submission of which nothing is known, or, with
 * `isUnsent`, of which nothing was ever handed over.
 */
export type EffectAnswer =
  | RunEvent
  | { readonly kind: "stale" }
  | { readonly kind: "unsigned" }
  | { readonly kind: "unsent" }
  | { readonly kind: "held-back"; readonly swapId: string; readonly detail: string; readonly isUnsent?: boolean };

const NO_EVENTS: ReadonlySet<string> = new Set(["stale", "unsigned", "unsent", "held-back"]);

/** Whether a run takes a step by it. */
export function isEvent(answer: EffectAnswer): answer is RunEvent {
  return !NO_EVENTS.has(answer.kind);
}
