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
  /**
   * Whether slots of this instant have no row yet, so that no run should begin: what runs begin with would delay them. Not
   * for longer than {@link SLOTS_FIRST_MS}, however many there are.
   */
  putsSlotsFirst(): boolean;
}

/** After days of downtime the slots of many strategies take longer than this, and runs begin between them. */
const SLOTS_FIRST_MS = 5_000;

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
  let leftSinceMs: number | undefined;
  const takeAll = async (): Promise<void> => {
    await hooks.first();
    while (!hooks.signal.aborted) {
      const { hasNew, isDone } = await hooks.slots.take();
      if (hasNew || leftSinceMs !== undefined) hooks.wake();
      leftSinceMs = isDone ? undefined : (leftSinceMs ?? clock.monotonicMs());
      if (isDone) {
        tickedAtMs = clock.monotonicMs();
        return;
      }
      await clock.sleep(0, hooks.signal);
    }
  };
  const take = (): Promise<void> =>
    takeAll().finally(() => {
      leftSinceMs = undefined;
    });
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
    putsSlotsFirst: () => leftSinceMs !== undefined && clock.monotonicMs() - leftSinceMs < SLOTS_FIRST_MS,
  };
}
