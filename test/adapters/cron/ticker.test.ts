import { expect, it } from "vitest";
import { startTicker } from "../../../src/adapters/cron/ticker.ts";

it("ticks about once a second, and no more once it is stopped", { timeout: 10_000 }, async () => {
  let ticks = 0;
  const stop = startTicker(() => {
    ticks += 1;
  });
  await new Promise((resolve) => setTimeout(resolve, 3_300));
  await stop();
  const counted = ticks;
  expect(counted).toBeGreaterThanOrEqual(2);
  expect(counted).toBeLessThanOrEqual(4);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(ticks).toBe(counted);
});
