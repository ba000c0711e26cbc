import { describe, expect, it } from "vitest";
import { readNotice } from "../../../src/adapters/limiter/read-notice.ts";

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

  it.each([
    "",
    "-1",
    "1.5",
    "0x10",
    "1e3",
    "NaN",
    "49, 0",
    " 5",
    "٥",
    "1000000000",
    "1700000000",
    "100;w=x",
    "100;w=0",
  ])("are ignored when malformed: %j", (text) => {
    const headers = { "ratelimit-limit": text, "ratelimit-remaining": text, "ratelimit-reset": text };
    expect(notice(headers)).toMatchObject({ limit: undefined, remaining: undefined, resetSeconds: undefined });
  });

  it("do not take a missing header for zero", () => {
    expect(notice({})).toMatchObject({ refused: false, limit: undefined, remaining: undefined });
  });

  it.each<[string, Record<string, string>, readonly (number | undefined)[]]>([
    [
      "early drafts",
      { "ratelimit-limit": "100, 100;w=10", "ratelimit-remaining": "7", "ratelimit-reset": "4" },
      [10, 7, 4],
    ],
    ["one window alone", { "ratelimit-limit": "100;w=10" }, [10]],
    ["drafts 04 to 06", { "ratelimit-limit": "10", "ratelimit-policy": "10;w=1, 50;w=60" }, [50 / 60]],
    ["draft 07", { ratelimit: "limit=100, remaining=50, reset=5" }, [undefined, 50, 5]],
    ["draft 07, one second", { ratelimit: "limit=100, remaining=50, reset=1" }, [100, 50, 1]],
    ["draft 07, no spaces", { ratelimit: "reset=1,limit=20,remaining=0" }, [20, 0, 1]],
    [
      "draft 07 with its policy",
      { ratelimit: "limit=100, remaining=50, reset=5", "ratelimit-policy": "100;w=10" },
      [10, 50, 5],
    ],
    ["draft 08", { ratelimit: '"default";r=50;t=30', "ratelimit-policy": '"default";q=100;w=10' }, [10, 50, 30]],
    [
      "draft 08, two windows",
      {
        ratelimit: '"burst";r=3;t=1, "daily";r=0;t=900',
        "ratelimit-policy": '"burst";q=20;w=1, "daily";q=864000;w=86400',
      },
      [10, 0, 900],
    ],
    [
      "draft 08, other units",
      { ratelimit: '"size";r=0;t=30', "ratelimit-policy": '"size";q=9;w=10;qu="content-bytes"' },
      [],
    ],
    ["draft 10, with a partition", { ratelimit: '"default";r=5;t=2;pk=:c2VjcmV0:' }, [undefined, 5, 2]],
  ])("are read in the form of %s", (_form, headers, [limit, remaining, resetSeconds]) => {
    expect(notice(headers)).toMatchObject({ limit, remaining, resetSeconds });
  });

  it.each([
    "limit=100, remaining=-1, reset=5",
    "limit=100, remaining=0, remaining=50",
    "limit=1e2, remaining=0",
    "limit=100; remaining=0; reset=5",
    '"default";r=x;t=30',
    '"default";r=0.5;t=30',
    '"default;r=0;t=30',
    '"default" r=0',
    "0",
    ",",
  ])("are ignored as one field when malformed: %j", (text) => {
    const headers = { ratelimit: text, "ratelimit-policy": '"a;q=1;w=1' };
    expect(notice(headers)).toMatchObject({ limit: undefined, remaining: undefined, resetSeconds: undefined });
  });

  it("are ignored when they are longer than any that is meant", () => {
    expect(notice({ ratelimit: Array(100).fill('"default";r=0;t=30').join(", ") }).remaining).toBeUndefined();
  });

  it("give no reset that is an instant of Unix time", () => {
    const headers = { "ratelimit-limit": "50", "ratelimit-remaining": "0", "ratelimit-reset": "1706702405" };
    expect(notice(headers)).toMatchObject({ limit: 50, remaining: 0, resetSeconds: undefined });
    expect(notice({ ratelimit: '"default";r=0;t=1706702405' })).toMatchObject({
      remaining: 0,
      resetSeconds: undefined,
    });
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
