import type { Clock } from "../../../ports/clock.ts";

/**
 * An answer that costs something: it is fetched when the last one is older than this, and once for all who ask meanwhile.
 * One that failed is not kept.
 */
export function onceInAWhile<T>(
  fetch: () => Promise<T>,
  { clock, maxAgeMs }: { readonly clock: Pick<Clock, "monotonicMs">; readonly maxAgeMs: number },
): () => Promise<T> {
  let last: { readonly answer: Promise<T>; readonly atMs: number } | undefined;
  return async () => {
    const nowMs = clock.monotonicMs();
    if (last !== undefined && nowMs - last.atMs < maxAgeMs) return await last.answer;
    const mine = { answer: fetch(), atMs: nowMs };
    last = mine;
    try {
      return await mine.answer;
    } catch (error) {
      if (last === mine) last = undefined;
      throw error;
    }
  };
}
