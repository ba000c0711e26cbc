import { formatDuration } from "../domain/time/format-duration.ts";
import type { EngineDeps } from "./engine-context.ts";

/** Writes down that the wall clock was set, or stood still together with the whole machine. */
export interface ClockJumps {
  /** Once a second. */
  check(): Promise<void>;
}

/** Less than this between two ticks is a time server at its work. */
const LEAST_JUMP_MS = 2_000;

/** A clock that is set again and again makes one row in so long, of all that it was set. */
const ROW_EVERY_MS = 60_000;

/**
 * Makes the watch of one life of the daemon. The wall clock is checked against the monotonic clock, which cannot be
 * set, and it stands still while a machine is suspended.
 */
export function createClockJumps({ clock, store, logger }: Pick<EngineDeps, "clock" | "store" | "logger">): ClockJumps {
  const offsetMs = (): number => clock.nowMs() - clock.monotonicMs();
  let lastOffsetMs = offsetMs();
  let lastRowMs = Number.NEGATIVE_INFINITY;
  let jumps = 0;
  let [fromMs, fromOffsetMs] = [clock.nowMs(), lastOffsetMs];
  let lastNowMs = clock.nowMs();
  const write = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    const text = describe({ fromMs, nowMs, byMs: offsetMs() - fromOffsetMs, jumps });
    lastRowMs = clock.monotonicMs();
    jumps = 0;
    const changes = [{ kind: "daemon-event", event: "clock-jump", detail: text }] as const;
    await store.commit([{ question: { kind: "nothing" }, decide: () => ({ changes, atMs: nowMs, value: undefined }) }]);
    logger.warn({ clock: text }, "the wall clock jumped");
  };
  return {
    check: async () => {
      const nowOffsetMs = offsetMs();
      if (Math.abs(nowOffsetMs - lastOffsetMs) >= LEAST_JUMP_MS) {
        if (jumps === 0) [fromMs, fromOffsetMs] = [lastNowMs, lastOffsetMs];
        jumps += 1;
      }
      lastOffsetMs = nowOffsetMs;
      lastNowMs = clock.nowMs();
      if (jumps > 0 && clock.monotonicMs() - lastRowMs >= ROW_EVERY_MS) await write();
    },
  };
}

function describe(jump: { fromMs: number; nowMs: number; byMs: number; jumps: number }): string {
  const { fromMs, nowMs, byMs, jumps } = jump;
  const [from, to] = [fromMs, nowMs].map((ms) => new Date(ms).toISOString());
  const times = jumps === 1 ? "" : ` in ${jumps} jumps`;
  const why = byMs >= 0 ? "it was set, or the machine was suspended" : "it was set";
  const what = `${formatDuration(Math.abs(byMs))} ${byMs >= 0 ? "ahead" : "back"}${times}`;
  return `the wall clock went ${what}, from ${from} to ${to} (${why}); slots follow their catch-up rule`;
}
