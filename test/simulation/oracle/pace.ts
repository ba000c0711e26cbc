import Database from "better-sqlite3";
import type { VirtualTime } from "../virtual-time.ts";
import { openRows, type Rows } from "./rows.ts";
import type { Report } from "./signing.ts";

/** What the service said at the end of a call; undefined where nobody heard it. */
export interface Said {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Judges when the service is called, by what it said to somebody who lived to hear it. */
export interface PaceOracle {
  /** A call leaves. */
  left(): void;
  /** A call has come to its end for a process that lives. */
  ended(said: Said | undefined): void;
  /** After everything that happened: what the end of a call changed stands in the file by now. */
  check(): void;
  /** The stored pace is of no use any more: anyone who reads it begins anew, and knows of no wait. */
  forget(): void;
  /** From now on somebody waits for a call: one has to leave soon, or as soon as a wait that was asked for is over. */
  awaitCall(): void;
  close(): void;
}

const SECOND_MS = 1_000;
/** One call goes ahead after a wait; before it has come to its end the next one goes so much later. */
const APART_MS = 5_000;
/** From any state: a call leaves within so long after the waits that were asked for. */
const GOES_ON_MS = 10_000;

interface Wait {
  readonly untilMs: number;
  /** the newest call that left after it */
  lastLeftMs: number | undefined;
}

export function createPaceOracle(parts: { time: VirtualTime; file: string; report: Report }): PaceOracle {
  const { time, file, report } = parts;
  let wait: Wait | undefined;
  let mustBeOver = false;
  let awaitedSinceMs: number | undefined;
  let rows: Rows | undefined;
  const judgeGoingOn = (): void => {
    if (awaitedSinceMs === undefined) return;
    const dueMs = Math.max(awaitedSinceMs, wait?.untilMs ?? 0) + GOES_ON_MS;
    if (time.monotonicMs < dueMs) {
      time.after(dueMs - time.monotonicMs, judgeGoingOn);
      return;
    }
    const seconds = (time.monotonicMs - awaitedSinceMs) / SECOND_MS;
    report(
      "L7",
      `a call of the service waits for ${seconds} s, and ${GOES_ON_MS / SECOND_MS} s longer than it asked for`,
    );
  };
  return {
    left: () => {
      const nowMs = time.monotonicMs;
      awaitedSinceMs = undefined;
      if (wait === undefined) return;
      const { untilMs, lastLeftMs } = wait;
      if (nowMs < untilMs) report("S14", `a call left ${untilMs - nowMs} ms before the wait was over`);
      else if (lastLeftMs !== undefined && nowMs - lastLeftMs < APART_MS)
        report("S14", `a call left ${nowMs - lastLeftMs} ms after the one that went ahead, of which nothing was heard`);
      if (nowMs >= untilMs) wait.lastLeftMs = nowMs;
    },
    ended: (said) => {
      const nowMs = time.monotonicMs;
      const askedMs = said === undefined ? undefined : waitAsked(said);
      if (askedMs !== undefined) {
        wait = { untilMs: Math.max(wait?.untilMs ?? 0, nowMs + askedMs), lastLeftMs: undefined };
      } else if (wait !== undefined && nowMs >= wait.untilMs) {
        wait = undefined;
        mustBeOver = true;
      }
    },
    check: () => {
      if (!mustBeOver) return;
      mustBeOver = false;
      rows ??= openRows(() => new Database(file));
      const stored = rows.one<{ cautious: number; blocked_until_us: number }>(
        "SELECT cautious, blocked_until_us FROM pace",
      );
      if (stored?.cautious === 1 && stored.blocked_until_us <= time.monotonicMs * 1_000)
        report("L7", "calls still go one by one, though one came to its end after the wait");
    },
    forget: () => {
      wait = undefined;
    },
    awaitCall: () => {
      awaitedSinceMs = time.monotonicMs;
      judgeGoingOn();
    },
    close: () => rows?.close(),
  };
}

/** How long nobody may call, in milliseconds: a refusal says so, and a window that is used up or has no place at all. */
function waitAsked({ status, headers }: Said): number | undefined {
  const number = (name: string): number | undefined =>
    headers[name] === undefined ? undefined : Number(headers[name]);
  const retryAfter = number("retry-after");
  if (status === 429 || (status === 503 && retryAfter !== undefined)) return Math.max(retryAfter ?? 1, 1) * SECOND_MS;
  const reset = number("ratelimit-reset") ?? 1;
  if (number("ratelimit-remaining") !== 0) return undefined;
  return number("ratelimit-limit") === 0 || reset > 1 ? Math.max(reset, 1) * SECOND_MS : undefined;
}
