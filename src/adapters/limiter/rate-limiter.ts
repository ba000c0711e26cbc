import { createHash } from "node:crypto";
import type { Secret } from "../../net/secret.ts";
import type { Clock, SharedClock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { LimitedAnswer, RateLimiter } from "../../ports/rate-limiter.ts";
import { isStorageFault } from "../../storage/storage-fault.ts";
import { type HeldBackListener, watchHeldBack } from "./held-back.ts";
import { type LimitNotice, learn, NOTHING_SAID, type Pace, takeTurn } from "./pace.ts";
import { openPaceStore, type PaceStore } from "./pace-store.ts";
import { readNotice } from "./read-notice.ts";
import { createWaitingCalls, type WaitingCalls } from "./waiting-calls.ts";

/** Which key of which service is paced, and how. */
export interface RateLimiterOptions {
  /** SQLite file that all processes with this key share */
  readonly file: string;
  readonly baseUrl: string;
  readonly apiKey: Secret | undefined;
  /** calls per second that are allowed at most; a service can only lower it */
  readonly limitPerSecond: number;
  /** calls that may wait; further ones are refused at once */
  readonly maxQueue: number;
  /** a call that waits longer ends, with what it waited for */
  readonly longestWaitMs: number;
  /** a service that asks for a longer wait is asked again after this */
  readonly longestRetryAfterMs: number;
}

/** What the limiter works with. */
export interface RateLimiterDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the service states its limit for the first time, and whenever it states another one. */
  readonly onLimit?: (limits: { expected: number; seen: number }) => void;
  /** Called when the service asks for a wait of minutes, and when that is over. */
  readonly onHeldBack?: HeldBackListener;
  readonly sharedClock: SharedClock;
  /** a number in [0, 1); default: the machine's */
  readonly random?: (() => number) | undefined;
}

const STORAGE_PAUSE_MS = 1_000;
/** However long the wait, it is checked again so often: calls end when they waited too long. */
const LONGEST_PAUSE_MS = 1_000;

/**
 * Creates the pacer of one key. The file is shared by processes; each hands its slots to its own waiting calls, the
 * most urgent first, so a crowd of quotes never delays the status of a live swap.
 * @throws StorageError when the file cannot be opened
 */
export function createRateLimiter(
  options: RateLimiterOptions,
  dependencies: RateLimiterDependencies,
): RateLimiter & { close(): void } {
  const { sharedClock } = dependencies;
  const terms = { limitPerSecond: options.limitPerSecond, longestRetryAfterMs: options.longestRetryAfterMs };
  const store = openPaceStore({ file: options.file, keyHash: hashKey(options), terms }, sharedClock);
  const { clock, logger, onHeldBack: report = () => undefined } = dependencies;
  const calls = createWaitingCalls(options, clock);
  const closing = new AbortController();
  const observe = watchHeldBack({ clock, sharedClock }, { closing: closing.signal, report });
  const dispatch = createDispatcher(options, { store, sharedClock, clock, logger, closing, calls, observe });
  const notice = createObserver(options, dependencies, { store, observe });
  observe(store.read());

  return {
    acquire: (priority, call = {}) => {
      if (call.signal?.aborted === true || closing.signal.aborted) return Promise.resolve("aborted");
      if (calls.count() >= options.maxQueue) return Promise.resolve("queue full");
      const permission = calls.wait(priority, call);
      dispatch();
      return permission;
    },
    observe: (answer) => {
      if (!closing.signal.aborted) notice(answer);
    },
    close: () => {
      if (closing.signal.aborted) return;
      closing.abort();
      while (calls.count() > 0) calls.settleFirst("aborted");
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
  readonly calls: WaitingCalls;
  readonly observe: (pace: Pace) => void;
}

/**
 * One loop per process, while calls wait. Each slot is taken when it is due, by the process that is first, for a call
 * that goes in the same turn: no caller holds a slot that it might not use, and a late timer delays one call, not the
 * rest.
 */
function createDispatcher(options: RateLimiterOptions, parts: DispatcherParts): () => void {
  const { store, sharedClock, clock, closing, calls } = parts;
  let running = false;
  let waitedFor = "its turn";

  /** @returns how long to wait before the next try, undefined when a call was let go */
  async function tryOnce(waitingSinceUs: number): Promise<number | undefined> {
    const turn = (pace: Pace, nowUs: number) => takeTurn(pace, { nowUs, waitingSinceUs }, options.limitPerSecond);
    // Reading needs no lock; most checks find that nothing is due yet.
    const seen = turn(store.read(), sharedClock.nowUs());
    if (seen.kind === "go") await calls.endHeldBack();
    if (calls.count() === 0) return undefined;
    const taken = seen.kind === "wait" ? seen : store.update(turn);
    parts.observe(taken.pace);
    if (taken.kind === "go") {
      calls.settleFirst("granted");
      return undefined;
    }
    const nowUs = sharedClock.nowUs();
    const untilMs = clock.nowMs() + (taken.pace.blockedUntilUs - nowUs) / 1_000;
    waitedFor = taken.pace.blockedUntilUs > nowUs ? blockedWords(untilMs) : turnWords(taken.pace, calls.count());
    return Math.min((taken.untilUs - nowUs) / 1_000, LONGEST_PAUSE_MS);
  }

  /** Without the shared pace no call is allowed: the calls wait until the file can be used again. */
  async function tryOrWait(waitingSinceUs: number): Promise<number | undefined> {
    try {
      return await tryOnce(waitingSinceUs);
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      parts.logger.error({ reason: String(error) }, "the shared pace cannot be read or written; calls wait");
      waitedFor = "the file of the shared pace, which cannot be read or written";
      return STORAGE_PAUSE_MS;
    }
  }

  async function run(): Promise<void> {
    const waitingSinceUs = sharedClock.nowUs();
    for (;;) {
      calls.endOverdue(waitedFor);
      if (calls.count() === 0 || closing.signal.aborted) return;
      const pauseMs = await tryOrWait(waitingSinceUs);
      if (pauseMs !== undefined) await clock.sleep(pauseMs, closing.signal);
    }
  }

  function dispatch(): void {
    if (running) return;
    running = true;
    // What is no fault of the file reaches the process's handler, and nothing here goes on.
    void run().then(() => {
      running = false;
      // A call that came between the loop's end and this line found it running and left the work to it.
      if (calls.count() > 0 && !closing.signal.aborted) dispatch();
    });
  }
  return dispatch;
}

function blockedWords(untilMs: number): string {
  return `the service, which asked for no calls until ${new Date(untilMs).toISOString()}`;
}

function turnWords(pace: Pace, waiting: number): string {
  return pace.cautious
    ? "the one call that goes ahead after the service refused calls"
    : `its turn at the rate limit; ${waiting} calls wait`;
}

function createObserver(
  options: RateLimiterOptions,
  dependencies: RateLimiterDependencies,
  { store, observe }: { readonly store: PaceStore; readonly observe: (pace: Pace) => void },
): (answer: LimitedAnswer | "lost") => void {
  const { random = Math.random } = dependencies;
  let reportedLimit: number | undefined;

  function remember(notice: LimitNotice): void {
    const jitter = random();
    const before = store.read();
    const relevant =
      notice.refused || notice.remaining === 0 || before.cautious || differs(notice.limit, before.limitSeen);
    if (!relevant) return;
    observe(store.update((pace, nowUs) => ({ pace: learn(pace, notice, { nowUs, jitter }, options) })).pace);
  }

  function tellLimit(seen: number | undefined): void {
    if (seen === undefined || seen === 0 || seen === reportedLimit) return;
    reportedLimit = seen;
    const limits = { expected: options.limitPerSecond, seen };
    if (seen !== limits.expected) {
      dependencies.logger.warn(limits, "the service states another rate limit than expected; check the API key");
    }
    dependencies.onLimit?.(limits);
  }

  return (answer) => {
    const notice = answer === "lost" ? NOTHING_SAID : readNotice(answer, dependencies.clock.nowMs());
    try {
      remember(notice);
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // The call has its answer all the same; what it said of the pace is said again by the next one.
      dependencies.logger.error({ reason: String(error) }, "the shared pace cannot be read or written");
    }
    if (notice.refused) {
      const fields = { status: answer === "lost" ? undefined : answer.status, retryAfterMs: notice.retryAfterMs };
      dependencies.logger.warn(fields, "the service refused a call for its rate; all calls of this key pause");
    }
    tellLimit(notice.limit);
  };
}

function differs(stated: number | undefined, known: number | undefined): boolean {
  return stated !== undefined && stated !== known;
}
