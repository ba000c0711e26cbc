import type { Clock, SharedClock } from "../../ports/clock.ts";
import type { Pace } from "./pace.ts";

/** People are notified of waits of at least this length. */
const WORTH_REPORTING_MS = 300_000;

/** Called when the service allows no call until a wall-clock instant, and with undefined when that is over. */
export type HeldBackListener = (untilMs: number | undefined) => void;

/**
 * Watches whether the service has asked for a long wait, this process or another one of the key, and reports when that
 * begins and when it is over. The first check also reports that it is over: an earlier process may have ended before it
 * could.
 */
export function watchHeldBack(
  clocks: { readonly clock: Clock; readonly sharedClock: SharedClock },
  { closing, report }: { readonly closing: AbortSignal; readonly report: HeldBackListener },
): (pace: Pace) => void {
  const { clock, sharedClock } = clocks;
  let untilUs = 0;
  let isTold = false;
  let isWatching = false;
  let isFirst = true;
  const leftMs = (): number => (untilUs - sharedClock.nowUs()) / 1_000;

  async function watchEnd(): Promise<void> {
    isWatching = true;
    while (leftMs() > 0 && !closing.aborted) await clock.sleep(leftMs(), closing);
    isWatching = false;
    isTold = false;
    if (!closing.aborted) report(undefined);
  }

  return (pace) => {
    untilUs = Math.max(untilUs, pace.blockedUntilUs);
    const left = leftMs();
    if (!isTold && left >= WORTH_REPORTING_MS) {
      report(clock.nowMs() + left);
      isTold = true;
    }
    if (left > 0 ? !isWatching && (isTold || isFirst) : isFirst) void watchEnd();
    isFirst = false;
  };
}
