import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../../src/ports/clock.ts";

/** The machine's own time. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(durationMs, signal) {
    await sleep(durationMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
  },
};
