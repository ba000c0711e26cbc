import type { StrategySpec } from "../../../domain/strategy/spec.ts";

/** A strategy as rows have it. Older ones called the allocation of a threshold strategy its bag. */
type StoredSpec = StrategySpec & { readonly bag?: unknown };

/** Reads a stored strategy, written by this release or an older one. */
export function readSpec(stored: unknown): StrategySpec {
  const spec = stored as StoredSpec;
  if (spec.kind !== "threshold" || spec.bag === undefined) return spec;
  const { bag, ...others } = spec;
  return { ...others, allocation: bag } as StrategySpec;
}
