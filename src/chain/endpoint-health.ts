import type { Clock } from "../ports/clock.ts";
import { RpcError } from "./json-rpc.ts";
import { classOf } from "./node-errors.ts";

export type EndpointClock = Pick<Clock, "monotonicMs" | "nowMs">;

/**
 * How an endpoint does, by what it answered. One that holds calls back rests, and nothing is asked of it that can wait.
 * One that had trouble, or whose newest block is old, is asked after the others, and checked again in the background.
 */
export interface EndpointHealth {
  /** In which order it is asked, lowest first: well, without the ability, in trouble, resting. */
  rank(ability?: string): number;
  /**
   * It answered properly: whatever was wrong is over, also that it lacked this.
   * @param rests how many it had begun when it was asked: what was under way already ends no rest; default: all of them
   */
  answered(ability?: string, rests?: number): void;
  /** How many rests it has begun. */
  rests(): number;
  failed(error: Error, ability: string): void;
  /** It is of no use now, whatever the reason. */
  distrust(reason: Error): void;
  /** Remembers whether it can do something, as a probe showed. */
  learn(ability: string, has: boolean): void;
  /** Checks the time of what it calls its newest block. */
  sawNewest(answer: unknown): void;
  /** Whether it is to be checked again now; the caller that gets true does it. */
  takeCheck(): boolean;
  /** @throws RpcError while it rests */
  assertRested(): void;
}

/** What an endpoint cannot do is believed for this long; it is then asked in its turn again. */
const LACK_MS = 600_000;
/** An endpoint whose newest block is older than this is asked after the others, and checked again so often. */
const LAG_MS = 120_000;
const LAG_CHECK_MS = 30_000;
/** After how long it is asked or checked again, at first and at most; it doubles while the answer stays. */
const PAUSES = {
  exhausted: { firstMs: 15_000, longestMs: 600_000 },
  "slow-down": { firstMs: 1_000, longestMs: 60_000 },
  trouble: { firstMs: 10_000, longestMs: 600_000 },
} as const;

/** Events of an endpoint's health. */
export interface HealthEvents {
  /** it was well until now */
  readonly onTrouble?: ((reason: Error) => void) | undefined;
  /** it answers again after trouble or a rest */
  readonly onReturn?: (() => void) | undefined;
}

export function createHealth(host: string, clock: EndpointClock, events: HealthEvents): EndpointHealth {
  const { monotonicMs } = clock;
  const lacks = new Map<string, number>();
  const pause = createPause(host, monotonicMs);
  const lag = createLag(clock);

  function distrust(reason: Error): void {
    const kind = reason instanceof RpcError ? classOf(reason) : "no-answer";
    if (pause.begin(kind === "exhausted" || kind === "slow-down" ? kind : "trouble", reason))
      events.onTrouble?.(reason);
  }

  return {
    distrust,
    rank: (ability) => {
      if (pause.isRest()) return 3;
      if (pause.isOn() || lag.isOn()) return 2;
      const lackedAtMs = ability === undefined ? undefined : lacks.get(ability);
      return lackedAtMs !== undefined && monotonicMs() - lackedAtMs < LACK_MS ? 1 : 0;
    },
    answered(ability, rests) {
      if (ability !== undefined) lacks.delete(ability);
      if (pause.end(rests)) events.onReturn?.();
    },
    rests: pause.rests,
    failed(error, ability) {
      const kind = error instanceof RpcError ? classOf(error) : "no-answer";
      if (kind === "not-available") lacks.set(ability, monotonicMs());
      if (kind === "no-answer" || kind === "exhausted" || kind === "slow-down") distrust(error);
    },
    learn: (ability, has) => void (has ? lacks.delete(ability) : lacks.set(ability, monotonicMs())),
    sawNewest: lag.note,
    takeCheck: () => pause.takeCheck() || (!pause.isOn() && lag.takeCheck()),
    assertRested: pause.assertNoRest,
  };
}

/**
 * Whether the newest block of an endpoint is old. It answers then like any other one, of a chain that stands still: prices
 * would stay as they are, and fresh by that chain's own time. By a clock of ours that is ahead all endpoints are so alike.
 */
function createLag({ monotonicMs, nowMs }: EndpointClock) {
  let seenAtMs: number | undefined;
  return {
    isOn: (): boolean => seenAtMs !== undefined,
    note(answer: unknown): void {
      const stamp =
        typeof answer === "object" && answer !== null && "timestamp" in answer ? answer.timestamp : undefined;
      const isOld = typeof stamp === "string" && nowMs() - Number(stamp) * 1_000 > LAG_MS;
      seenAtMs = isOld ? monotonicMs() : undefined;
    },
    takeCheck(): boolean {
      if (seenAtMs === undefined || monotonicMs() - seenAtMs < LAG_CHECK_MS) return false;
      seenAtMs = monotonicMs();
      return true;
    },
  };
}

/**
 * Leaves an endpoint alone for a while: wholly where it says so, a limit by the second for moments, one by the day for
 * minutes; else as long as others answer. It lasts until the endpoint answers, and however long it does not, it is
 * asked or checked again within the longest pause.
 */
function createPause(host: string, monotonicMs: () => number) {
  let kind: keyof typeof PAUSES | undefined;
  let lengthMs = 0;
  let untilMs = Number.NEGATIVE_INFINITY;
  let reason = "";
  let rests = 0;
  const isOver = (): boolean => monotonicMs() >= untilMs;
  const isRest = (): boolean => kind !== undefined && kind !== "trouble" && !isOver();
  return {
    isOn: (): boolean => kind !== undefined,
    isRest,
    /** @returns whether all was well before */
    begin(next: keyof typeof PAUSES, why: Error): boolean {
      // Calls that were under way together say the same thing once.
      if (isRest() || (kind === next && !isOver())) return false;
      const wasWell = kind === undefined;
      const { firstMs, longestMs } = PAUSES[next];
      const askedForMs = (why instanceof RpcError ? (why.retryAfterSeconds ?? 0) : 0) * 1_000;
      lengthMs = Math.min(longestMs, Math.max(firstMs, 2 * lengthMs, askedForMs));
      untilMs = monotonicMs() + lengthMs;
      kind = next;
      if (next !== "trouble") rests += 1;
      reason = why.message;
      return wasWell;
    },
    rests: (): number => rests,
    /** @returns whether there was one that is over now */
    end(begun = rests): boolean {
      if (isRest() && begun !== rests) return false;
      const wasOn = kind !== undefined;
      kind = undefined;
      lengthMs = 0;
      untilMs = Number.NEGATIVE_INFINITY;
      return wasOn;
    },
    takeCheck(): boolean {
      if (kind === undefined || !isOver()) return false;
      // The next pause begins before the check, which ends it where it goes well.
      if (kind === "trouble") lengthMs = Math.min(PAUSES.trouble.longestMs, 2 * lengthMs);
      untilMs = monotonicMs() + Math.max(PAUSES.trouble.firstMs, lengthMs);
      kind = "trouble";
      return true;
    },
    /** @throws RpcError */
    assertNoRest(): void {
      if (!isRest()) return;
      const seconds = Math.ceil((untilMs - monotonicMs()) / 1_000);
      throw new RpcError({ kind: "transport", host, message: `${reason}; asked again in ${seconds} s` });
    },
  };
}
