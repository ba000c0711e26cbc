/** An instant of a clock that cannot be set: since a boot of the machine, read alike by all of its processes. */
export interface BootInstant {
  /** names the boot */
  readonly id: string;
  readonly ms: number;
}

/** A clock that all processes of this machine read alike until it boots again. */
export interface SharedClock {
  /** microseconds of the monotonic clock */
  nowUs(): number;
  /** names the boot since which `nowUs` counts */
  readonly bootId: string;
}

/** Time comes in through this port only, so that a simulation can own it. */
export interface Clock {
  /** Wall clock: Unix time in milliseconds. May jump. For slots, records and deadlines. */
  nowMs(): number;
  /** Monotonic milliseconds since an arbitrary origin. For durations and pacing. */
  monotonicMs(): number;
  /** Monotonic as well, and known after a restart of the process. */
  sinceBoot(): BootInstant;
  /** Resolves after `durationMs`, or at once when the signal aborts (it never rejects). */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}
