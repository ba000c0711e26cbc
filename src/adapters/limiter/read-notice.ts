import type { LimitedAnswer } from "../../ports/rate-limiter.ts";
import type { LimitNotice } from "./pace.ts";
import { type RateStatement, readCount, readRateFields } from "./rate-limit-fields.ts";

const HTTP_DATE_PATTERN = /^[A-Za-z]{3,9}[, ].*[0-9]{2}:[0-9]{2}:[0-9]{2}/;

/**
 * Reads what an answer says about limits. A malformed or repeated header is ignored, an answer out of a cache says
 * nothing. Of several stated limits the lowest one counts.
 * @param nowMs wall clock, Unix milliseconds, for a `Retry-After` that is a date
 */
export function readNotice(answer: LimitedAnswer, nowMs: number): LimitNotice {
  const retryAfterMs = readRetryAfter(answer.header("retry-after"), nowMs);
  const refused = answer.status === 429 || (answer.status === 503 && retryAfterMs !== undefined);
  const fields = (readCount(answer.header("age")) ?? 0) > 0 ? [] : readRateFields((name) => answer.header(name));
  return { refused, retryAfterMs, limit: least(fields.map(({ limit }) => limit)), ...tightest(fields) };
}

/** Of several windows the one with the least left binds; of equals the one that lasts longest. */
function tightest(fields: readonly RateStatement[]): Pick<LimitNotice, "remaining" | "resetSeconds"> {
  const remaining = least(fields.map((field) => field.remaining));
  const resets = fields.filter((field) => field.remaining === remaining).map(({ resetSeconds }) => resetSeconds ?? 0);
  return { remaining, resetSeconds: Math.max(0, ...resets) || undefined };
}

/**
 * Reads `Retry-After`: seconds, or one of the three date forms of HTTP. A bare number is always seconds, never a year.
 * @returns milliseconds from now, not negative; undefined when it is absent or malformed
 */
export function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const seconds = readCount(text);
  if (seconds !== undefined) return seconds * 1_000;
  if (!HTTP_DATE_PATTERN.test(text)) return undefined;
  // The third form of HTTP (asctime) carries no zone and means UTC like the others.
  const atMs = Date.parse(text.includes("GMT") ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const stated = values.filter((value) => value !== undefined);
  return stated.length === 0 ? undefined : Math.min(...stated);
}
