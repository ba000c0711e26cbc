import { expect, test } from "vitest";
import { createCostlyOutside, expectOneOrderOfTwoSlots, liveOn } from "../support/carrying-life.ts";

test("DCA-18 carries an amount once and sells it once, wherever the process is killed", async () => {
  const { passed } = await liveOn(createCostlyOutside());
  expect(passed.length).toBeGreaterThan(20);
  for (const [index, label] of passed.entries()) {
    // Each kind of commit once, and every decision.
    const isLast = passed.lastIndexOf(label) === index && label.endsWith(".after");
    if (!label.startsWith("commit.view-read.") && !isLast) continue;
    const outside = createCostlyOutside();
    const killed = await liveOn(outside, (_label, places) => places.length === index + 1);
    expect([killed.isDead(), killed.passed.at(-1)], `place ${index}`).toEqual([true, label]);
    killed.db.close();
    expectOneOrderOfTwoSlots(outside, await liveOn(outside));
  }
});
