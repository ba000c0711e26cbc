import type { Clock } from "../../ports/clock.ts";
import type { CallPriority, Permission, RateLimiter } from "../../ports/rate-limiter.ts";

/** Calls that wait for their turn, the most urgent first, each no longer than a bound. */
export interface WaitingCalls {
  readonly count: () => number;
  wait(priority: CallPriority, call: CallTerms): Promise<Permission>;
  /** Ends those at the head that may not be made any more, so that the turn is for one that may. */
  endHeldBack(): Promise<void>;
  /** Gives the first one its permission. */
  settleFirst(permission: Permission): void;
  /** Ends those that have waited as long as they may. @param waitedFor what they waited for, in words */
  endOverdue(waitedFor: string): void;
}

/** How a call may end before its turn. */
type CallTerms = NonNullable<Parameters<RateLimiter["acquire"]>[1]>;

interface WaitingCall extends Pick<CallTerms, "heldBack"> {
  readonly sinceMs: number;
  settle(permission: Permission): void;
}

const PRIORITIES: readonly CallPriority[] = ["status", "quote", "background"];

/** Creates the queues of one limiter. */
export function createWaitingCalls(options: { readonly longestWaitMs: number }, clock: Clock): WaitingCalls {
  const queues = new Map<CallPriority, WaitingCall[]>(PRIORITIES.map((priority) => [priority, []]));
  const firstQueue = (): WaitingCall[] | undefined => [...queues.values()].find((calls) => calls.length > 0);
  const firstCall = (): WaitingCall | undefined => firstQueue()?.[0];
  return {
    count: () => PRIORITIES.reduce((sum, priority) => sum + (queues.get(priority)?.length ?? 0), 0),
    wait: (priority, { signal, heldBack }) =>
      new Promise((resolve) => {
        const queue = queues.get(priority) ?? [];
        const abort = (): void => {
          queue.splice(queue.indexOf(call), 1);
          resolve("aborted");
        };
        const call: WaitingCall = {
          sinceMs: clock.monotonicMs(),
          heldBack,
          settle: (permission) => {
            signal?.removeEventListener("abort", abort);
            resolve(permission);
          },
        };
        signal?.addEventListener("abort", abort, { once: true });
        queue.push(call);
      }),
    endHeldBack: async () => {
      for (let first = firstCall(); first !== undefined; first = firstCall()) {
        const reason = await whyHeldBack(first);
        // While it was asked it may have ended, or a more urgent one may have come.
        if (first !== firstCall()) continue;
        if (reason === undefined) return;
        firstQueue()?.shift()?.settle({ heldBack: reason });
      }
    },
    settleFirst: (permission) => firstQueue()?.shift()?.settle(permission),
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

/** Where it cannot be asked, the call takes its turn: its caller asks once more, and gets the error. */
async function whyHeldBack(call: WaitingCall): Promise<string | undefined> {
  try {
    return await call.heldBack?.();
  } catch {
    return undefined;
  }
}
