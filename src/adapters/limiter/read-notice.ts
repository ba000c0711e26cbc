import { readCount, readRetryAfter } from "../../net/retry-after.ts";
import type { LimitedAnswer } from "../../ports/rate-limiter.ts";
import type { LimitNotice } from "./pace.ts";
import { type RateStatement, readRateFields } from "./rate-limit-fields.ts";

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

function least(values: readonly (number | undefined)[]): number | undefined {
  const stated = values.filter((value) => value !== undefined);
  return stated.length === 0 ? undefined : Math.min(...stated);
}
