/** Time comes in through this port only, so that a simulation can own it. */
export interface Clock {
  /** Wall clock: Unix time in milliseconds. May jump. For slots, records and deadlines. */
  nowMs(): number;
  /** Monotonic milliseconds since an arbitrary origin. For durations and pacing. */
  monotonicMs(): number;
  /** Resolves after `durationMs`, or at once when the signal aborts (it never rejects). */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}
