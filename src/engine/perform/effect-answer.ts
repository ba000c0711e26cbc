import type { RunEvent } from "../../domain/run/events.ts";

/**
 * The answer of an effect. `stale`: the reading was overtaken by a commit and must be made again. `held-back`: nothing was
 * submitted, for sure; to the run it is a submission of which nothing is known.
 */
export type EffectAnswer =
  | RunEvent
  | { readonly kind: "stale" }
  | { readonly kind: "held-back"; readonly swapId: string; readonly detail: string };
