import { setTimeout as sleep } from "node:timers/promises";
import { systemClock as machine } from "../../../src/adapters/clock/system-clock.ts";
import type { Clock } from "../../../src/ports/clock.ts";

/** The machine's own time. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sinceBoot: () => machine.sinceBoot(),
  async sleep(durationMs, signal) {
    await sleep(durationMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
  },
};
