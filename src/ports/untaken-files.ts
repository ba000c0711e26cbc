import type { StrategySpec } from "../domain/strategy/spec.ts";

/** Edited files that a daemon goes on without, by its own alert. */
export interface UntakenFiles {
  readonly code: string;
  readonly sinceMs: number;
  /** the editions that it goes by */
  readonly inForce: ReadonlyMap<string, StrategySpec>;
}
