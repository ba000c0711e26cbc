import type { RunEvent } from "../../domain/run/events.ts";

/** The answer of an effect; `stale` says that the reading was overtaken by a commit and must be made again. */
export type EffectAnswer = RunEvent | { readonly kind: "stale" };
