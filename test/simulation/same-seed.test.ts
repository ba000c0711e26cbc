import { expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";

test("gives the same world for the same seed, to the last line of its trace", { timeout: 300_000 }, async () => {
  const terms = { from: 300, seeds: 1, processes: 1, shrinks: false };
  const { failures, seeds } = await runCampaign({ ...terms, said: () => undefined });
  expect([seeds, failures]).toEqual([1, []]);
});
