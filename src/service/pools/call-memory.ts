import type { ViewCall } from "../../chain/at-block/batch-reader.ts";

/** What quotes keep asking for besides pools, so that each new block asks for it before they do. */
export interface CallMemory {
  /** Notes that a quote asked for it. */
  touch(call: ViewCall, nowMs: number): void;
  inUse(nowMs: number): readonly ViewCall[];
}

/** A caller that asks for quotes does so again within that time, or has gone. */
const USED_FOR_MS = 30_000;

/** A call runs with up to a million gas of the node's; beyond so many, what was not asked for longest is left out. */
const MAX_CALLS = 250;

export function keyOf({ to, data, words }: ViewCall): string {
  return `${to}${data}:${words}`;
}

export function createCallMemory(): CallMemory {
  const calls = new Map<string, { readonly call: ViewCall; readonly usedAtMs: number }>();
  return {
    touch(call, nowMs) {
      const key = keyOf(call);
      calls.delete(key);
      calls.set(key, { call, usedAtMs: nowMs });
      const oldest = calls.size > MAX_CALLS ? calls.keys().next().value : undefined;
      if (oldest !== undefined) calls.delete(oldest);
    },
    inUse(nowMs) {
      for (const [key, { usedAtMs }] of calls) {
        if (nowMs - usedAtMs < USED_FOR_MS) break;
        calls.delete(key);
      }
      return [...calls.values()].map(({ call }) => call);
    },
  };
}
