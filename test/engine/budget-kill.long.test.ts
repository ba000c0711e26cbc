import { expect, test } from "vitest";
import { createBudgetOutside, liveOverMidnight, soldByDay } from "../support/budget-life.ts";
import { HUNDRED_USDC } from "../support/builders.ts";

test("BUD-1 holds in each day, by the chain's blocks, wherever the process is killed", async () => {
  const { passed } = await liveOverMidnight(createBudgetOutside());
  expect(passed.length).toBeGreaterThan(40);
  for (const [index, label] of passed.entries()) {
    // Each kind of commit once, and every decision.
    const isLast = passed.lastIndexOf(label) === index && label.endsWith(".after");
    if (!label.startsWith("commit.view-read.") && !isLast) continue;
    const outside = createBudgetOutside();
    const killed = await liveOverMidnight(outside, (_label, places) => places.length === index + 1);
    expect([killed.isDead(), killed.passed.at(-1)], `place ${index}`).toEqual([true, label]);
    killed.db.close();
    await liveOverMidnight(outside);
    const [before, after] = await soldByDay(outside);
    expect([before, after].map((sold) => sold <= (5n * HUNDRED_USDC) / 2n)).toEqual([true, true]);
    // A kill costs at most the slot that it struck.
    expect(before + after).toBeGreaterThanOrEqual(3n * HUNDRED_USDC);
  }
});
