import { describe, expect, test } from "vitest";
import { LABELS_OF_A_DAEMON } from "../e2e/kill/crash-labels.ts";
import { killAgainAndAgain, killAtEach, labelsKilledAt, placesOf } from "../support/course-kills.ts";
import { COURSES } from "../support/courses.ts";
import { openMix } from "../support/mix-life.ts";

describe("a mix of three tokens sells nothing twice and ends in its bands, killed while a swap of it is", () => {
  test.each(COURSES)("$name", { timeout: 240_000 }, async (course) => {
    await killAtEach(await placesOf(course, openMix(course)), () => openMix(course));
  });

  test("anything of that, again and again while it recovers", { timeout: 120_000 }, async () => {
    await killAgainAndAgain(6, openMix);
  });

  test("and there is no place in an engine at which none of them is killed", { timeout: 120_000 }, async () => {
    expect(await labelsKilledAt(openMix)).toEqual(new Set(LABELS_OF_A_DAEMON));
  });
});
