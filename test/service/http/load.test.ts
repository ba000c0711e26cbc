import { expect, test } from "vitest";
import { wrongDecisions, wrongHeaders } from "../support/limit-decisions.ts";
import type { LoadAnswer } from "../support/load-client.ts";

function seen(status: number, remaining: number, sentAtMs: number, gotAtMs = sentAtMs): LoadAnswer {
  const headers = {
    "ratelimit-limit": "2",
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": "1",
    "x-ratelimit-limit-second": "2",
    "x-ratelimit-remaining-second": String(remaining),
  };
  return { endpoint: "quote", status, sentAtMs, gotAtMs, durationMs: 0, headers, text: "" };
}

test("the check of the load sees a count given twice, a refusal too early and a header that lies", () => {
  const good = [seen(200, 1, 1_000), seen(200, 0, 1_500), seen(429, 0, 1_900), seen(200, 1, 1_999, 2_001)];
  expect(wrongDecisions(good, 2)).toEqual([]);
  expect(wrongDecisions([...good, seen(200, 1, 1_950)], 2)).toEqual(["second 1: count 1 given twice"]);
  expect(wrongDecisions([seen(200, 1, 3_000), seen(429, 0, 3_100)], 2)).toEqual(["second 3: refused after 1 of 2"]);
  expect(wrongHeaders(seen(200, 1, 0), 2)).toBeUndefined();
  expect(wrongHeaders(seen(200, 1, 0), 3)).toContain("RateLimit-Limit 2");
  expect(wrongHeaders(seen(200, 2, 0), 2)).toContain("remaining 2");
  expect(wrongHeaders(seen(429, 0, 0), 2)).toContain("a refusal's own");
});
