import type { Clock } from "../../ports/clock.ts";
import { machineClock } from "./shared-clock.ts";

/** A longer timer is armed in pieces: Node fires timers above 2^31 ms at once, and a laptop's sleep stretches them. */
const LONGEST_PIECE_MS = 3_600_000;

const machine = machineClock();

/** The clock of the machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sinceBoot: () => ({ id: machine.bootId, ms: Math.floor(machine.nowUs() / 1_000) }),
  sleep: (durationMs, signal) => sleepInPieces(durationMs, LONGEST_PIECE_MS, signal),
};

/**
 * Sleeps in pieces of at most `pieceMs`, measured by the monotonic clock. Resolves at once when the signal aborts.
 * However short, it is a turn of the event loop: a loop that yields by a zero sleep must not be the only one that runs.
 * @throws RangeError when the duration is not a number, because that would be a loop without a pause
 */
export async function sleepInPieces(durationMs: number, pieceMs: number, signal?: AbortSignal): Promise<void> {
  if (Number.isNaN(durationMs)) throw new RangeError("cannot sleep for NaN milliseconds");
  const end = performance.now() + durationMs;
  while (signal?.aborted !== true) {
    await pause(Math.min(Math.max(end - performance.now(), 0), pieceMs), signal);
    if (performance.now() >= end) return;
  }
}

function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.ceil(durationMs));
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done, { once: true });
  });
}
