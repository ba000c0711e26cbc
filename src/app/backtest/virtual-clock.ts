import type { Clock } from "../../ports/clock.ts";

/** A clock that stands until it is set. */
export interface VirtualClock extends Clock {
  /** @throws Error when it would go back */
  set(atMs: number): void;
}

/** Makes a clock that stands at an instant. */
export function createVirtualClock(startMs: number): VirtualClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sinceBoot: () => ({ id: "backtest", ms: nowMs }),
    sleep: async () => undefined,
    set: (atMs) => {
      if (atMs < nowMs) throw new Error(`a backtest goes from ${nowMs} back to ${atMs}`);
      nowMs = atMs;
    },
  };
}
