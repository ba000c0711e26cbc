import pRetry from "p-retry";

/** How often and how long a read is tried again. */
export interface RetryOptions {
  /** tries after the first one */
  readonly retries: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly signal?: AbortSignal;
  /** Whether this failure may pass; default: every failure. */
  readonly isTransient?: (error: Error) => boolean;
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
    minTimeout: options.minDelayMs,
    maxTimeout: options.maxDelayMs,
    factor: 2,
    randomize: true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    shouldRetry: ({ error }) => options.isTransient?.(error) ?? true,
    onFailedAttempt: ({ error, attemptNumber, retriesLeft }) => {
      if (retriesLeft > 0) options.onRetry?.(error, attemptNumber);
    },
  });
}

async function asPlainError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) throw error;
    throw new Error(`a read threw something that is no error: ${String(error)}`);
  }
}
