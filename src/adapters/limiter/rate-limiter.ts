import { createHash } from "node:crypto";
import type { Secret } from "../../net/secret.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { CallPriority, LimitedAnswer, Permission, RateLimiter } from "../../ports/rate-limiter.ts";
import { catchUpUs, learn, reserve } from "./pace.ts";
import { openPaceStore, type PaceStore } from "./pace-store.ts";
import { readNotice } from "./read-notice.ts";
import { machineClock, type SharedClock } from "./shared-clock.ts";

/** Which key of which service is paced, and how. */
export interface RateLimiterOptions {
  /** SQLite file that all processes with this key share */
  readonly file: string;
  readonly baseUrl: string;
  readonly apiKey: Secret | undefined;
  /** calls per second that are allowed at most; a service can only lower it */
  readonly limitPerSecond: number;
  /** calls that may wait; further ones are told so at once */
  readonly maxQueue: number;
}

/** What the limiter works with. */
export interface RateLimiterDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the service states its limit for the first time, and whenever it states another one. */
  readonly onLimit?: (limits: { expected: number; seen: number }) => void;
  readonly sharedClock?: SharedClock | undefined;
  /** a number in [0, 1); default: the machine's */
  readonly random?: (() => number) | undefined;
}

interface Waiter {
  readonly settle: (permission: Permission) => void;
}

const STORAGE_PAUSE_MS = 1_000;
/** A timer is a millisecond late even on an idle machine. */
const SHORTEST_GRACE_US = 2_000;

const PRIORITIES: readonly CallPriority[] = ["status", "quote", "background"];

/**
 * Creates the pacer of one key. The file is shared by processes; each hands its slots to its own waiting calls, the most
 * urgent first, so a crowd of quotes never holds up the status of a live swap.
 * @throws StorageError when the file cannot be opened
 */
export function createRateLimiter(
  options: RateLimiterOptions,
  dependencies: RateLimiterDependencies,
): RateLimiter & { close(): void } {
  const sharedClock = dependencies.sharedClock ?? machineClock();
  const store = openPaceStore(
    { file: options.file, keyHash: hashKey(options), configuredLimit: options.limitPerSecond },
    sharedClock,
  );
  const queues = new Map<CallPriority, Waiter[]>(PRIORITIES.map((priority) => [priority, []]));
  const closing = new AbortController();
  const waiting = (): number => PRIORITIES.reduce((sum, priority) => sum + (queues.get(priority)?.length ?? 0), 0);
  const next = (): Waiter | undefined =>
    PRIORITIES.map((priority) => queues.get(priority))
      .find((queue) => queue !== undefined && queue.length > 0)
      ?.shift();
  const dispatch = createDispatcher(options, {
    store,
    sharedClock,
    clock: dependencies.clock,
    logger: dependencies.logger,
    closing,
    waiting,
    next,
  });
  const notice = createObserver(options, dependencies, store);

  return {
    acquire: (priority, signal) => {
      if (signal?.aborted === true || closing.signal.aborted) return Promise.resolve("aborted");
      if (waiting() >= options.maxQueue) return Promise.resolve("queue full");
      return new Promise((resolve) => {
        const queue = queues.get(priority) ?? [];
        const abort = (): void => {
          queue.splice(queue.indexOf(waiter), 1);
          resolve("aborted");
        };
        const waiter: Waiter = {
          settle: (permission) => {
            signal?.removeEventListener("abort", abort);
            resolve(permission);
          },
        };
        signal?.addEventListener("abort", abort, { once: true });
        queue.push(waiter);
        dispatch();
      });
    },
    observe: (answer) => {
      if (!closing.signal.aborted) notice(answer);
    },
    close: () => {
      if (closing.signal.aborted) return;
      closing.abort();
      for (let waiter = next(); waiter !== undefined; waiter = next()) waiter.settle("aborted");
      store.close();
    },
  };
}

function hashKey(options: RateLimiterOptions): string {
  const key = options.apiKey === undefined ? "keyless" : `key ${options.apiKey.reveal()}`;
  return createHash("sha256")
    .update(`${new URL(options.baseUrl).origin} ${key}`)
    .digest("hex");
}

interface DispatcherParts {
  readonly store: PaceStore;
  readonly sharedClock: SharedClock;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly closing: AbortController;
  readonly waiting: () => number;
  readonly next: () => Waiter | undefined;
}

/**
 * One loop per process takes slots while calls wait, one ahead, so that processes are spread over the slots instead of
 * racing for each. Slots are absolute instants, so a late timer delays one call and not the rest. A slot that is met too
 * late, or while a refusal has just blocked the key, is given up.
 */
function createDispatcher(options: RateLimiterOptions, parts: DispatcherParts): () => void {
  const { store, sharedClock, clock, closing } = parts;
  const limit = options.limitPerSecond;
  let running = false;

  /** @returns whether a slot was met: in time, and while nobody is held back */
  async function meetSlot(busy: boolean): Promise<boolean> {
    const taken = store.update((pace, nowUs) => reserve(pace, { nowUs, busy }, limit));
    const instantUs = taken.kind === "slot" ? taken.slotUs : taken.untilUs;
    await clock.sleep((instantUs - sharedClock.nowUs()) / 1_000, closing.signal);
    if (taken.kind === "wait" || closing.signal.aborted) return false;
    const nowUs = sharedClock.nowUs();
    const pace = store.read();
    return nowUs >= pace.blockedUntilUs && nowUs - taken.slotUs <= Math.max(catchUpUs(pace, limit), SHORTEST_GRACE_US);
  }

  async function run(): Promise<void> {
    for (let busy = false; parts.waiting() > 0 && !closing.signal.aborted; busy = true) {
      try {
        if (await meetSlot(busy)) parts.next()?.settle("granted");
      } catch (error) {
        // Without the shared pace nobody may call: the calls wait until the file can be used again.
        parts.logger.error({ reason: String(error) }, "the shared pace cannot be read or written; calls wait");
        await clock.sleep(STORAGE_PAUSE_MS, closing.signal);
      }
    }
  }

  function dispatch(): void {
    if (running) return;
    running = true;
    void run().finally(() => {
      running = false;
      // A call that came between the loop's end and this line found it running and left the work to it.
      if (parts.waiting() > 0 && !closing.signal.aborted) dispatch();
    });
  }
  return dispatch;
}

function createObserver(
  options: RateLimiterOptions,
  dependencies: RateLimiterDependencies,
  store: PaceStore,
): (answer: LimitedAnswer) => void {
  const { random = Math.random } = dependencies;
  let reportedLimit: number | undefined;
  return (answer) => {
    const notice = readNotice(answer, dependencies.clock.nowMs());
    const at = { nowUs: 0, jitter: random() };
    const before = store.read();
    const relevant =
      notice.refused || notice.remaining === 0 || before.probe === "sent" || differs(notice.limit, before.limitSeen);
    if (relevant) {
      store.update((pace, nowUs) => ({ pace: learn(pace, notice, { ...at, nowUs }, options.limitPerSecond) }));
    }
    if (notice.refused) {
      const fields = { status: answer.status, retryAfterMs: notice.retryAfterMs };
      dependencies.logger.warn(fields, "the service refused a call for its rate; all calls of this key pause");
    }
    if (notice.limit === undefined || notice.limit === reportedLimit) return;
    reportedLimit = notice.limit;
    const limits = { expected: options.limitPerSecond, seen: notice.limit };
    if (limits.seen !== limits.expected) {
      dependencies.logger.warn(limits, "the service states another rate limit than expected; check the API key");
    }
    dependencies.onLimit?.(limits);
  };
}

function differs(stated: number | undefined, known: number | undefined): boolean {
  return stated !== undefined && stated !== known;
}
