import { describe, expect, test } from "vitest";
import { LABELS_OF_A_DAEMON } from "../e2e/kill/crash-labels.ts";
import { killAgainAndAgain, killAtEach, labelsKilledAt, placesOf } from "../support/course-kills.ts";
import { COURSES } from "../support/courses.ts";
import { openTrailing } from "../support/trailing-life.ts";

describe("THR-17 a trailing stop keeps its high-water mark and sells once, killed while its sale is", () => {
  test.each(COURSES)("$name", { timeout: 240_000 }, async (course) => {
    await killAtEach(await placesOf(course, openTrailing(course)), () => openTrailing(course));
  });

  test("anything of that, again and again while it recovers", { timeout: 120_000 }, async () => {
    await killAgainAndAgain(6, openTrailing);
  });

  test("and there is no place in an engine at which none of them is killed", { timeout: 120_000 }, async () => {
    expect(await labelsKilledAt(openTrailing)).toEqual(new Set(LABELS_OF_A_DAEMON));
  });
});
