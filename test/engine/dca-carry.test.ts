import { expect, test } from "vitest";
import { createCostlyOutside, expectOneOrderOfTwoSlots, liveOn, runsOf } from "../support/carrying-life.ts";
import { turnUntil } from "../support/engine-life.ts";

test("DCA-18 waits until the fees fit, sells both slots' amounts in one swap, and completes with one notice", async () => {
  const outside = createCostlyOutside();
  const life = await liveOn(outside);
  expectOneOrderOfTwoSlots(outside, life);
  expect(outside.reported.filter(({ code }) => code === "strategy_completed")).toHaveLength(1);
  // Its slots are let pass until a person resumes it.
  await turnUntil(outside, life, { maxSeconds: 70, isDone: () => false });
  expect(runsOf(life)).toHaveLength(2);
});
