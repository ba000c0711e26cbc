import type { RunEvent } from "../../domain/run/events.ts";

/**
 * The answer of an effect. `stale`: the reading was overtaken by a commit and must be made again. `unsigned`: the signer
 * gave no signature, and is asked again after a while. `held-back`: nothing is submitted by this effect; to the run it is
 * a submission of which nothing is known, or, with `isUnsent`, of which nothing was ever handed over.
 */
export type EffectAnswer =
  | RunEvent
  | { readonly kind: "stale" }
  | { readonly kind: "unsigned" }
  | { readonly kind: "held-back"; readonly swapId: string; readonly detail: string; readonly isUnsent?: boolean };

/** Whether a run takes a step by it. */
export function isEvent(answer: EffectAnswer): answer is RunEvent {
  return answer.kind !== "stale" && answer.kind !== "unsigned" && answer.kind !== "held-back";
}
