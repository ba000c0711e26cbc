import type { Clock } from "../ports/clock.ts";
import type { SlotTurn } from "./slot-turn.ts";

/** The scheduler's beat: what is looked at once a second. */
export interface Beat {
  /** Resolves when the look is over; at once where the one before is not. */
  tick(): Promise<void>;
  /** Milliseconds since the last tick, or the making, was over: by the monotonic clock. */
  ageMs(): number;
}

/**
 * Makes the beat. Where there is much to catch up a tick takes it in turns, so that effects and requests get theirs.
 * @param hooks.guarded runs work whose errors are broken invariants
 */
export function createBeat(
  clock: Clock,
  hooks: { slots: SlotTurn; wake(): void; guarded(work: () => Promise<void>): Promise<void>; signal: AbortSignal },
): Beat {
  let tickedAtMs = clock.monotonicMs();
  let isTaking = false;
  const take = async (): Promise<void> => {
    while (!hooks.signal.aborted) {
      const { hasNew, isDone } = await hooks.slots.take();
      if (hasNew) hooks.wake();
      if (!isDone) await clock.sleep(0, hooks.signal);
      else {
        tickedAtMs = clock.monotonicMs();
        return;
      }
    }
  };
  return {
    tick: async () => {
      if (isTaking) return;
      isTaking = true;
      await hooks.guarded(take);
      isTaking = false;
    },
    ageMs: () => clock.monotonicMs() - tickedAtMs,
  };
}
