import { expect, test } from "vitest";
import { runCuts } from "./cut-campaign.ts";

const CUTS = 8;

test("goes on with the chain as it is after the log was cut at any byte that was not synced for sure", {
  timeout: 300_000,
}, async () => {
  const { cuts, failures } = await runCuts(CUTS, 1);
  expect(failures).toEqual([]);
  expect(cuts).toBeGreaterThanOrEqual(CUTS);
});
