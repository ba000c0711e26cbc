import pRetry from "p-retry";

const FACTOR = 2;

/** How often and how long a read is tried again. */
export interface RetryOptions {
  /** tries after the first one */
  readonly retries: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly signal?: AbortSignal;
  /** Whether this failure may pass; default: every failure. */
  readonly isTransient?: (error: Error) => boolean;
  /** the pauses pass on this clock, with this jitter in [0, 1); default: those of the machine */
  readonly pauses?: { sleep(durationMs: number, signal?: AbortSignal): Promise<void>; random(): number };
  readonly onRetry?: (error: Error, attempt: number) => void;
}

/**
 * Repeats a **read** until it succeeds, with growing, jittered delays. Never wrap anything in this that signs, sends or
 * changes something: a lost answer there is a state to resolve, not a reason to do it again.
 * @throws the last error of `read`, or the reason of the signal when it aborts
 */
export async function retryRead<T>(read: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  return pRetry((attempt) => asPlainError(() => read(attempt)), {
    retries: options.retries,
    minTimeout: options.pauses === undefined ? options.minDelayMs : 0,
    maxTimeout: options.pauses === undefined ? options.maxDelayMs : 0,
    factor: FACTOR,
    randomize: true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    shouldRetry: async ({ error, retriesConsumed }) => {
      if (options.isTransient?.(error) === false) return false;
      await options.pauses?.sleep(delayMs(options, retriesConsumed), options.signal);
      return true;
    },
    onFailedAttempt: ({ error, attemptNumber, retriesLeft }) => {
      if (retriesLeft > 0) options.onRetry?.(error, attemptNumber);
    },
  });
}

function delayMs({ minDelayMs, maxDelayMs, pauses }: RetryOptions, before: number): number {
  return Math.min(maxDelayMs, minDelayMs * FACTOR ** before * (1 + (pauses?.random() ?? 0)));
}

async function asPlainError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) throw error;
    throw new Error(`a read threw something that is no error: ${String(error)}`);
  }
}
