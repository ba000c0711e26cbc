import type { Clock } from "../../ports/clock.ts";

/** Keeps something fresh while it is asked for. */
export interface Follower<T> {
  current(): Promise<T>;
  stop(): void;
}

/** A quote may stand on a block that the node left this long ago; saves one round trip for most quotes. */
const FRESH_FOR_MS = 100;

/** After so long without a request the node is left alone until the next one. */
const IDLE_AFTER_MS = 10_000;

/** A far node is asked less often, so that at most about a fifth of the time goes into asking. */
const PAUSE_ROUND_TRIPS = 4;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** How fast the measure of a round trip forgets the fastest one, so that one slow answer changes little. */
const FORGET = 1.02;

/**
 * Refreshes in the background, again and again, from the first request until there was none for a while. A caller
 * gets what is fresh at once, and else waits for the refresh; its failure is his, and the next question tries again.
 */
export function createFollower<T>(refresh: () => Promise<T>, clock: Clock): Follower<T> {
  let latest: { readonly value: T; readonly atMs: number } | undefined;
  let refreshing: Promise<T> | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let roundTripMs = Number.POSITIVE_INFINITY;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const pauseMs = () => {
    const steady = Math.max(SHORTEST_PAUSE_MS, Number.isFinite(roundTripMs) ? PAUSE_ROUND_TRIPS * roundTripMs : 0);
    return Math.min(steady * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS);
  };
  const isFresh = (atMs: number) => {
    const farFor = Number.isFinite(roundTripMs) ? 2 * PAUSE_ROUND_TRIPS * roundTripMs : 0;
    return clock.monotonicMs() - atMs < Math.min(Math.max(FRESH_FOR_MS, farFor), LONGEST_PAUSE_MS);
  };

  async function measured(): Promise<T> {
    // What was true when the question left is what the answer is fresh for.
    const beganMs = clock.monotonicMs();
    try {
      const value = await refresh();
      roundTripMs = Math.min(roundTripMs * FORGET, clock.monotonicMs() - beganMs);
      failures = 0;
      latest = { value, atMs: beganMs };
      return value;
    } catch (error) {
      failures += 1;
      throw error;
    }
  }

  function start(): Promise<T> {
    refreshing ??= measured().finally(() => {
      refreshing = undefined;
      schedule();
    });
    return refreshing;
  }

  function schedule(): void {
    clearTimeout(timer);
    if (isStopped || clock.monotonicMs() - askedAtMs > IDLE_AFTER_MS) return;
    // The next caller gets a failure itself.
    timer = setTimeout(() => void start().catch(() => undefined), pauseMs()).unref();
  }

  return {
    current() {
      askedAtMs = clock.monotonicMs();
      return latest !== undefined && isFresh(latest.atMs) ? Promise.resolve(latest.value) : start();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
