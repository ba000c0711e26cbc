import { machineClock } from "../adapters/clock/shared-clock.ts";
import { systemClock } from "../adapters/clock/system-clock.ts";
import { startTicker } from "../adapters/cron/ticker.ts";
import { createRandomIds } from "../adapters/ids/random-ids.ts";
import { type BoundedFetch, boundedFetch } from "../net/bounded-fetch.ts";
import type { Clock, SharedClock } from "../ports/clock.ts";
import type { IdSource } from "../ports/ids.ts";

/** What a daemon takes of the machine that it runs on: time, chance and the network. A simulation gives its own. */
export interface Machine {
  readonly clock: Clock;
  readonly sharedClock: SharedClock;
  readonly ids: IdSource;
  /** a number in [0, 1), for the jitter of pauses */
  random(): number;
  readonly fetch: BoundedFetch;
  /** Calls back once a second. @returns stops the ticking */
  startTicker(onTick: () => void): () => void;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  return {
    clock: systemClock,
    sharedClock: machineClock(),
    ids: createRandomIds(systemClock.nowMs),
    random: Math.random,
    fetch: boundedFetch,
    startTicker,
  };
}
