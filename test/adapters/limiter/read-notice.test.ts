import { describe, expect, it } from "vitest";
import { readNotice, readRetryAfter } from "../../../src/adapters/limiter/read-notice.ts";

const NOW = Date.UTC(2024, 0, 31, 12, 0, 0);

function notice(headers: Record<string, string>, status = 200) {
  return readNotice({ status, header: (name) => headers[name.toLowerCase()] ?? null }, NOW);
}

describe("limit headers", () => {
  it("are read from either set, the stricter of two", () => {
    expect(notice({ "x-ratelimit-limit-second": "50", "x-ratelimit-remaining-second": "49" })).toMatchObject({
      limit: 50,
      remaining: 49,
    });
    expect(notice({ "ratelimit-limit": "200", "ratelimit-remaining": "9", "ratelimit-reset": "1" })).toMatchObject({
      limit: 200,
      remaining: 9,
      resetSeconds: 1,
    });
    expect(notice({ "ratelimit-limit": "200", "x-ratelimit-limit-second": "50" }).limit).toBe(50);
  });

  it.each(["", "-1", "1.5", "0x10", "1e3", "NaN", "49, 0", " 5", "٥", "1000000000", "100;w=1"])(
    "are ignored when malformed: %j",
    (text) => {
      const headers = { "ratelimit-limit": text, "ratelimit-remaining": text, "ratelimit-reset": text };
      expect(notice(headers)).toMatchObject({ limit: undefined, remaining: undefined, resetSeconds: undefined });
    },
  );

  it("do not take a missing header for zero, nor zero for a limit", () => {
    expect(notice({})).toMatchObject({ refused: false, limit: undefined, remaining: undefined });
    expect(notice({ "ratelimit-limit": "0" }).limit).toBeUndefined();
  });

  it("are ignored on an answer out of a cache", () => {
    expect(notice({ age: "3", "ratelimit-limit": "1", "ratelimit-remaining": "0" })).toMatchObject({
      limit: undefined,
      remaining: undefined,
    });
  });

  it("count as a refusal on 429, and on 503 only when it says how long", () => {
    expect(notice({}, 429).refused).toBe(true);
    expect(notice({}, 503).refused).toBe(false);
    expect(notice({ "retry-after": "2" }, 503)).toMatchObject({ refused: true, retryAfterMs: 2_000 });
  });
});

describe("Retry-After", () => {
  it.each<[string | null, number | undefined]>([
    [null, undefined],
    ["1", 1_000],
    ["0", 0],
    ["Wed, 31 Jan 2024 12:00:05 GMT", 5_000],
    ["Wednesday, 31-Jan-24 12:00:05 GMT", 5_000],
    ["Wed Jan 31 12:00:05 2024", 5_000],
    ["Wed, 31 Jan 2024 11:00:00 GMT", 0],
    ["soon", undefined],
    ["-5", undefined],
    ["2024-01-31", undefined],
  ])("%j means %j ms", (text, expected) => {
    expect(readRetryAfter(text, NOW)).toBe(expected);
  });
});
