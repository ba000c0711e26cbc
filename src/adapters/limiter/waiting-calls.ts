import type { Clock } from "../../ports/clock.ts";
import type { CallPriority, Permission } from "../../ports/rate-limiter.ts";

/** Calls that wait for their turn, the most urgent first, each no longer than a bound. */
export interface WaitingCalls {
  readonly count: () => number;
  wait(priority: CallPriority, signal: AbortSignal | undefined): Promise<Permission>;
  /** Gives the first one its permission. */
  settleFirst(permission: Permission): void;
  /** Ends those that have waited as long as they may. @param waitedFor what they waited for, in words */
  endOverdue(waitedFor: string): void;
}

interface WaitingCall {
  readonly sinceMs: number;
  settle(permission: Permission): void;
}

const PRIORITIES: readonly CallPriority[] = ["status", "quote", "background"];

/** Creates the queues of one limiter. */
export function createWaitingCalls(options: { readonly longestWaitMs: number }, clock: Clock): WaitingCalls {
  const queues = new Map<CallPriority, WaitingCall[]>(PRIORITIES.map((priority) => [priority, []]));
  return {
    count: () => PRIORITIES.reduce((sum, priority) => sum + (queues.get(priority)?.length ?? 0), 0),
    wait: (priority, signal) =>
      new Promise((resolve) => {
        const queue = queues.get(priority) ?? [];
        const abort = (): void => {
          queue.splice(queue.indexOf(call), 1);
          resolve("aborted");
        };
        const call: WaitingCall = {
          sinceMs: clock.monotonicMs(),
          settle: (permission) => {
            signal?.removeEventListener("abort", abort);
            resolve(permission);
          },
        };
        signal?.addEventListener("abort", abort, { once: true });
        queue.push(call);
      }),
    settleFirst: (permission) => {
      const queue = [...queues.values()].find((calls) => calls.length > 0);
      queue?.shift()?.settle(permission);
    },
    endOverdue: (waitedFor) => {
      const nowMs = clock.monotonicMs();
      for (const queue of queues.values()) {
        for (let [first] = queue; first !== undefined; [first] = queue) {
          const waitedMs = nowMs - first.sinceMs;
          if (waitedMs < options.longestWaitMs) break;
          queue.shift();
          first.settle({ waitedMs, waitedFor });
        }
      }
    },
  };
}
