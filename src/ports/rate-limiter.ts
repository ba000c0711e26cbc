/**
 * How much a call matters when several wait: `status` (what became of live swaps) before `quote`, before `background`
 * (dashboards, records).
 */
export type CallPriority = "status" | "quote" | "background";

/** A call waited as long as one may. */
export interface WaitedTooLong {
  readonly waitedMs: number;
  /** what it waited for last, in words */
  readonly waitedFor: string;
}

/** A call may not be made any more, for this reason. It took no turn. */
export interface HeldBack {
  readonly heldBack: string;
}

/** Whether the call may be made now. `queue full`: too many calls wait already; ask again later. */
export type Permission = "granted" | "aborted" | "queue full" | WaitedTooLong | HeldBack;

/** What a service answered, as far as its limits are concerned. */
export interface LimitedAnswer {
  readonly status: number;
  /** value of a response header, null when it is absent */
  header(name: string): string | null;
}

/** Paces the calls to one service with one key, over all strategies and processes. */
export interface RateLimiter {
  /**
   * Waits for the right to make one call, no longer than a bound. Resolves in every case, never rejects.
   * @param call.heldBack why the call may not be made any more; asked when its turn has come, so that it takes none
   */
  acquire(
    priority: CallPriority,
    call?: {
      readonly signal?: AbortSignal | undefined;
      readonly heldBack?: (() => Promise<string | undefined>) | undefined;
    },
  ): Promise<Permission>;
  /**
   * Learns how a call ended. Call it for every one that was made: refused ones, and those whose answer was lost. A
   * right that was not used is not reported: calls go on at the next slot.
   */
  observe(answer: LimitedAnswer | "lost"): void;
}
