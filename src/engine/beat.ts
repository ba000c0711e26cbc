import type { Clock } from "../ports/clock.ts";
import type { SlotTurn } from "./slot-turn.ts";

/** The scheduler's beat: what is looked at once a second. */
export interface Beat {
  tick(): void;
  /** Milliseconds since the last tick, or the making, was over: by the monotonic clock. */
  ageMs(): number;
}

/**
 * Makes the beat. Where there is much to catch up a tick takes it in turns, so that effects and requests get theirs.
 * @param hooks.guarded runs work whose errors are broken invariants
 */
export function createBeat(
  clock: Clock,
  hooks: { slots: SlotTurn; wake(): void; guarded(work: () => void): void; signal: AbortSignal },
): Beat {
  let tickedAtMs = clock.monotonicMs();
  let isCatchingUp = false;
  const take = (): void =>
    hooks.guarded(() => {
      if (hooks.signal.aborted) return;
      const { hasNew, isDone } = hooks.slots.take();
      if (hasNew) hooks.wake();
      isCatchingUp = !isDone;
      if (isDone) tickedAtMs = clock.monotonicMs();
      else void clock.sleep(0).then(take);
    });
  return {
    tick: () => {
      if (!isCatchingUp) take();
    },
    ageMs: () => clock.monotonicMs() - tickedAtMs,
  };
}
