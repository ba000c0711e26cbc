import type { Clock } from "../ports/clock.ts";

/** Lets one loop sleep until there is something for it. */
export interface Waker {
  wake(): void;
  /**
   * Resolves when woken, when the time is over, or when the signal aborts. Where it was woken while nobody slept, it waits
   * for no time, so that everything else has its turn: what the loop looked at by then may have been older.
   */
  wait(durationMs: number, signal: AbortSignal): Promise<void>;
}

/** Creates a waker whose waits pass on the given clock. */
export function createWaker(clock: Clock): Waker {
  let sleeper: AbortController | undefined;
  let isCalled = false;
  // A loop waits with the same signal each time: it is listened to once.
  let heard: AbortSignal | undefined;
  return {
    wake: () => {
      // With a reason: one of its own would be an error with a stack, at each wake.
      if (sleeper === undefined) isCalled = true;
      else sleeper.abort("woken");
    },
    wait: async (durationMs, signal) => {
      if (signal.aborted) return;
      if (signal !== heard) signal.addEventListener("abort", () => sleeper?.abort(), { once: true });
      heard = signal;
      sleeper = new AbortController();
      const forMs = isCalled ? 0 : durationMs;
      isCalled = false;
      await clock.sleep(forMs, sleeper.signal);
      sleeper = undefined;
    },
  };
}
