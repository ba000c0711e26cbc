import type { Clock } from "../ports/clock.ts";
import type { SlotWork } from "./slot-work.ts";

/** The scheduler's beat: what is checked once a second. */
export interface Beat {
  /** Begins a check, unless the one before is not over. Resolves when none is under way. */
  tick(): Promise<void>;
  /** Resolves when no check is under way. */
  idle(): Promise<void>;
  /** Milliseconds since the last tick, or the making, was over: by the monotonic clock. */
  ageMs(): number;
}

/**
 * Makes the beat. Where there is much to catch up a tick takes it in turns, so that effects and requests get theirs.
 * @param hooks.guarded runs work whose errors are broken invariants
 */
export function createBeat(
  clock: Clock,
  hooks: {
    slots: SlotWork;
    /** checks once a second what depends on no slot */
    first(): Promise<void>;
    wake(): void;
    guarded(work: () => Promise<void>): Promise<void>;
    signal: AbortSignal;
  },
): Beat {
  let tickedAtMs = clock.monotonicMs();
  let underWay: Promise<void> | undefined;
  const take = async (): Promise<void> => {
    await hooks.first();
    while (!hooks.signal.aborted) {
      const { hasNew, isDone } = await hooks.slots.take();
      if (hasNew) hooks.wake();
      if (isDone) {
        tickedAtMs = clock.monotonicMs();
        return;
      }
      await clock.sleep(0, hooks.signal);
    }
  };
  return {
    tick: async () => {
      if (hooks.signal.aborted) return;
      underWay ??= hooks.guarded(take).finally(() => {
        underWay = undefined;
      });
      await underWay;
    },
    idle: async () => await underWay,
    ageMs: () => clock.monotonicMs() - tickedAtMs,
  };
}
