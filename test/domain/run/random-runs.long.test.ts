import fc from "fast-check";
import { test } from "vitest";
import { expectSameAgain, life, setting } from "../../support/random-lives.ts";

test("what a thousand random runs were taken from can be stored, and gives the same runs again", () => {
  fc.assert(fc.property(setting, life, expectSameAgain), { numRuns: 1_000 });
});
