import type { Clock } from "../ports/clock.ts";

/** Lets loops sleep until there is something for them. */
export interface Waker {
  wake(): void;
  /** Resolves when woken, when the time is over, or when the signal aborts. */
  wait(durationMs: number, signal: AbortSignal): Promise<void>;
}

/** Creates a waker whose waits pass on the given clock. */
export function createWaker(clock: Clock): Waker {
  const sleepers = new Set<AbortController>();
  return {
    wake: () => {
      // With a reason: one of its own would be an error with a stack, at each wake.
      for (const sleeper of sleepers) sleeper.abort("woken");
      sleepers.clear();
    },
    wait: async (durationMs, signal) => {
      if (signal.aborted) return;
      const sleeper = new AbortController();
      sleepers.add(sleeper);
      const onStop = (): void => sleeper.abort();
      signal.addEventListener("abort", onStop, { once: true });
      await clock.sleep(durationMs, sleeper.signal);
      signal.removeEventListener("abort", onStop);
      sleepers.delete(sleeper);
    },
  };
}
