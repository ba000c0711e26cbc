import type { Decision, StrategyView } from "./decision.ts";

/** How a run ended, as far as a strategy's memory cares. */
export interface RunEnd {
  /** something was bought: a fill, whole or in part, is final or confirmed */
  readonly filled: boolean;
  readonly nowMs: number;
}

/**
 * One kind of strategy: pure functions over its settings and its memory. Memory is plain JSON with a version; it is
 * stored with every decision and read back with `parseMemory`, also by later releases.
 */
export interface StrategyKind<Spec, Memory> {
  initialMemory(spec: Spec): Memory;
  /** Reads stored memory. @returns undefined when it is none of this kind */
  parseMemory(json: unknown): Memory | undefined;
  decide(spec: Spec, view: StrategyView, memory: Memory): Decision<Memory>;
  /** What a run's end changes. Called once for each run that this strategy's decision started. */
  onRunEnded(spec: Spec, memory: Memory, end: RunEnd): Memory;
}

/** Whether a JSON value is an object with fields. */
export function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
