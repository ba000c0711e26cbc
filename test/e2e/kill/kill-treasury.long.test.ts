import { expect, it } from "vitest";
import { SHORT_FORM_TIMEOUT_MS } from "./short-form.ts";
import { runTreasuryCampaign, summaryOf } from "./treasury-campaign.ts";

const KILLS = 24;
const LEAST_EXECUTIONS = 3;
const LEAST_LABELS = 8;

it("no slot of a Safe is executed twice, and budgets are exact, when the daemons that propose are killed again and again", {
  timeout: 2 * SHORT_FORM_TIMEOUT_MS,
}, async () => {
  const story: string[] = [];
  const seed = Date.now() % 1_000_000;
  const report = await runTreasuryCampaign({ tracks: 2, kills: KILLS, seed, report: (text) => void story.push(text) });
  console.log(summaryOf(report));
  expect(report.violations, story.join("\n")).toEqual([]);
  expect(report.kills).toBeGreaterThanOrEqual(KILLS - 1);
  expect(new Set(report.passed).size).toBeGreaterThanOrEqual(LEAST_LABELS);
  expect(report.executions).toBeGreaterThanOrEqual(LEAST_EXECUTIONS);
});
