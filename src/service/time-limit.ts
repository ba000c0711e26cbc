import type { Clock } from "../ports/clock.ts";

/** A node may be silent, and a connection is cut off after a while of silence: the caller has his answer before that. */
export const ANSWER_WITHIN_MS = 25_000;

/** Until when an answer is waited for. */
export interface TimeLimit {
  /** who waits; undefined: no one in particular */
  readonly caller: string | undefined;
  /** Whether the time is up, or the answer is not waited for any more. */
  isOver(): boolean;
  /** Waits for an answer; undefined when the time is up first. What was asked goes on: others may wait for it too. */
  within<T>(answer: Promise<T>): Promise<{ readonly value: T } | undefined>;
  /** A limit at this share of the time that is left. */
  part(share: number): TimeLimit;
}

/** Who waits until a limit is over. */
export interface Waiter {
  readonly name?: string;
  /** whether he has hung up */
  isGone(): boolean;
}

const NOBODY: Waiter = { isGone: () => false };

export function createTimeLimit(durationMs: number, clock: Clock, waiter: Waiter = NOBODY): TimeLimit {
  const endsMs = clock.monotonicMs() + durationMs;
  const leftMs = () => endsMs - clock.monotonicMs();
  return {
    caller: waiter.name,
    isOver: () => leftMs() <= 0 || waiter.isGone(),
    within: (answer) => waitFor(answer, Math.max(0, leftMs())),
    part: (share) => createTimeLimit(leftMs() * share, clock, waiter),
  };
}

/** Waits for an answer so long; undefined when the time is up first. What was asked goes on. */
export async function waitFor<T>(answer: Promise<T>, forMs: number): Promise<{ readonly value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), forMs);
  });
  try {
    return await Promise.race([answer.then((value) => ({ value })), late]);
  } finally {
    clearTimeout(timer);
  }
}
