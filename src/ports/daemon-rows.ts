import type { Effect } from "../domain/run/effects.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";

/** A strategy as the database remembers it. `memory` is versioned JSON; `lastSlotMs` the last slot that has its end or run. */
export interface StrategyRow {
  readonly id: string;
  readonly kind: string;
  readonly specHash: string;
  readonly spec: StrategySpec;
  readonly memory: string;
  readonly lastSlotMs: number;
}

/** An effect that is written down and not yet answered. */
export interface PendingEffect {
  readonly id: number;
  readonly runId: string;
  readonly effect: Effect;
}

/**
 * Checks of open swaps on the chain, routes that are kept for people, everything else, and all but the routes. Submissions
 * of what is signed are some of the others.
 */
export type EffectGroup = "polls" | "routes" | "others" | "submissions" | "no routes";

/** Equal uneventful slots in a row. */
export interface GapRow {
  readonly strategy: string;
  readonly firstSlotMs: number;
  readonly lastSlotMs: number;
  readonly count: number;
  readonly reason: string;
}

/** What an operator asked of the running daemon. */
export interface OperatorRequest {
  readonly id: number;
  readonly command: string;
  readonly arguments: Readonly<Record<string, string>>;
  readonly madeBy: string;
  readonly madeAtMs: number;
}
