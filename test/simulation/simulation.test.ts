import { expect, test } from "vitest";
import { firstOf, runCampaign } from "./campaign.ts";

/** The short form of `npm run test:long` goes on with the 76 after them; `npm run test:sim` runs as many as one likes. */
const SEEDS = 8;

test("keeps every promise and goes on after every fault, in each of the first seeds", {
  timeout: 300_000,
}, async () => {
  const said: string[] = [];
  // What a second process takes to load is more than what these few seeds take.
  const terms = { from: 1, seeds: SEEDS, processes: 1, shrinks: false };
  const { failures, seeds, fills, lives, hidden } = await runCampaign({ ...terms, said: (line) => said.push(line) });
  expect(failures.map((failed) => `seed ${failed.seed}: ${firstOf(failed)}`)).toEqual([]);
  expect(seeds).toBe(SEEDS);
  // A world in which nothing is traded or killed would keep every promise too.
  expect(fills).toBeGreaterThan(SEEDS);
  expect(hidden).toBeGreaterThan(SEEDS / 2);
  expect(lives).toBeGreaterThan(SEEDS);
});
