import type { Clock } from "../ports/clock.ts";

/** Lets loops sleep until there is something for them. */
export interface Waker {
  wake(): void;
  /** How often it was woken. */
  wakes(): number;
  /**
   * Resolves when woken, when the time is over, or when the signal aborts.
   * @param since a count of wakes: after a later one it waits for no time, which lets everything else have its turn
   */
  wait(durationMs: number, signal: AbortSignal, since?: number): Promise<void>;
}

/** Creates a waker whose waits pass on the given clock. */
export function createWaker(clock: Clock): Waker {
  let wakes = 0;
  const sleepers = new Set<AbortController>();
  return {
    wake: () => {
      wakes += 1;
      // With a reason: one of its own would be an error with a stack, at each wake.
      for (const sleeper of sleepers) sleeper.abort("woken");
      sleepers.clear();
    },
    wakes: () => wakes,
    wait: async (durationMs, signal, since = wakes) => {
      if (signal.aborted) return;
      const sleeper = new AbortController();
      sleepers.add(sleeper);
      const onStop = (): void => sleeper.abort();
      signal.addEventListener("abort", onStop, { once: true });
      await clock.sleep(since === wakes ? durationMs : 0, sleeper.signal);
      signal.removeEventListener("abort", onStop);
      sleepers.delete(sleeper);
    },
  };
}
