import { describe, expect, it } from "vitest";
import { readRetryAfter } from "../../src/net/retry-after.ts";

const NOW = Date.UTC(2024, 0, 31, 12, 0, 0);

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
