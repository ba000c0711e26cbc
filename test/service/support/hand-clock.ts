import type { Clock } from "../../../src/ports/clock.ts";
import { systemClock } from "./system-clock.ts";

/** A wall clock that stands still until a test moves it; monotonic time and sleep are the machine's. */
export function createHandClock(startMs: number): Clock & { set(ms: number): void; advance(ms: number): void } {
  let now = startMs;
  return {
    ...systemClock,
    nowMs: () => now,
    set: (ms) => {
      now = ms;
    },
    advance: (ms) => {
      now += ms;
    },
  };
}
