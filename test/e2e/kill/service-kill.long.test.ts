import { expect, it } from "vitest";
import { runServiceKills, summaryOfService } from "./service-campaign.ts";

const KILLS = 7;
/** Longest on a machine that has other things to do. */
const TIMEOUT_MS = 180_000;

it("neither loses nor repeats a gasless swap when the service is killed under load", {
  timeout: TIMEOUT_MS,
}, async () => {
  const story: string[] = [];
  const report = await runServiceKills({
    kills: KILLS,
    wallets: 2,
    seed: Date.now() % 1_000_000,
    quietMs: 60_000,
    report: (text) => void story.push(text),
  });
  console.log(summaryOfService(report));
  expect(report.violations, story.join("\n")).toEqual([]);
  expect(report.service.kills).toBeGreaterThanOrEqual(KILLS);
  expect(report.service.passed.length).toBeGreaterThanOrEqual(2);
  // Fewer would mean that the kills met no load.
  expect(report.ends.success).toBeGreaterThanOrEqual(2);
  expect(report.filledAfterwards).toBeGreaterThanOrEqual(1);
});
