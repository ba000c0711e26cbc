import { expect, test } from "vitest";
import { runCuts } from "./cut-campaign.ts";

const CUTS = 300;

test("goes on with the chain as it is after each of 300 cuts of the log", { timeout: 3_600_000 }, async () => {
  const { cuts, failures } = await runCuts(CUTS, 1_000);
  expect(failures).toEqual([]);
  expect(cuts).toBeGreaterThanOrEqual(CUTS);
});
