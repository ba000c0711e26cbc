import type { LimitedAnswer } from "../../ports/rate-limiter.ts";
import type { LimitNotice } from "./pace.ts";

const COUNT_PATTERN = /^[0-9]{1,9}$/;
const HTTP_DATE_PATTERN = /^[A-Za-z]{3,9}[, ].*[0-9]{2}:[0-9]{2}:[0-9]{2}/;

/**
 * Reads what an answer says about limits. A malformed or repeated header is ignored, an answer out of a cache says
 * nothing. Of two stated limits the lower one counts.
 * @param nowMs wall clock, Unix milliseconds, for a `Retry-After` that is a date
 */
export function readNotice(answer: LimitedAnswer, nowMs: number): LimitNotice {
  const retryAfterMs = readRetryAfter(answer.header("retry-after"), nowMs);
  const refused = answer.status === 429 || (answer.status === 503 && retryAfterMs !== undefined);
  if ((count(answer.header("age")) ?? 0) > 0) {
    return { refused, retryAfterMs, limit: undefined, remaining: undefined, resetSeconds: undefined };
  }
  const limit = lower(count(answer.header("x-ratelimit-limit-second")), count(answer.header("ratelimit-limit")));
  return {
    refused,
    retryAfterMs,
    limit: limit === 0 ? undefined : limit,
    remaining: lower(count(answer.header("x-ratelimit-remaining-second")), count(answer.header("ratelimit-remaining"))),
    resetSeconds: count(answer.header("ratelimit-reset")),
  };
}

/**
 * Reads `Retry-After`: seconds, or one of the three date forms of HTTP. A bare number is always seconds, never a year.
 * @returns milliseconds from now, not negative; undefined when it is absent or malformed
 */
export function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const seconds = count(text);
  if (seconds !== undefined) return seconds * 1_000;
  if (!HTTP_DATE_PATTERN.test(text)) return undefined;
  // The third form of HTTP (asctime) carries no zone and means UTC like the others.
  const atMs = Date.parse(text.includes("GMT") ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

function count(text: string | null): number | undefined {
  return text !== null && COUNT_PATTERN.test(text) ? Number(text) : undefined;
}

function lower(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}
