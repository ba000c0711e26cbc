import { expect, test } from "vitest";
import { createDoubt } from "../../../src/domain/chain/doubt.ts";

const NOW_SECONDS = 1_900_000_000;

test("a word is believed once it was said for five seconds, by a node whose newest block is not old", () => {
  let monotonicMs = 0;
  const doubt = createDoubt({ monotonicMs: () => monotonicMs, nowMs: () => NOW_SECONDS * 1_000 });
  const against = (word: string, ageSeconds: number | undefined) =>
    doubt.against(word, ageSeconds === undefined ? undefined : NOW_SECONDS - ageSeconds);
  expect(against("no contract", 0)).toContain("asked again");
  monotonicMs = 4_999;
  expect(against("no contract", 0)).toContain("asked again");
  monotonicMs = 5_000;
  expect(against("no contract", 601)).toBe("the newest block is 10m1s old");
  expect(against("no contract", 600)).toBeUndefined();
  expect(against("no contract", undefined), "a node that does not tell its block").toBeUndefined();
  expect(against("another chain", 0), "said for the first time").toContain("asked again");
  monotonicMs = 10_000;
  expect(against("another chain", 0)).toBeUndefined();
  doubt.end();
  expect(against("another chain", 0), "said anew").toContain("asked again");
});
