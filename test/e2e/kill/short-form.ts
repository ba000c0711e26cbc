import { expect } from "vitest";
import type { LabelGroup } from "./crash-labels.ts";
import { runKillCampaign, summaryOf } from "./kill-harness.ts";
import type { Profile } from "./kill-world.ts";

/** Longest for one file on a machine that has other things to do. */
export const SHORT_FORM_TIMEOUT_MS = 400_000;

/** Half of what the long form does at least; the two files together make fifty. */
const KILLS = 26;
const QUIET_MS = 60_000;
/** Fewer would mean that the kills met no trading. */
const LEAST_FILLS = 3;
const LEAST_LABELS = 8;

/** The short form, from a fresh seed. A failure reports the seed and every life; `main.ts --seed` repeats the plan. */
export async function expectToSurvive(
  profile: Profile,
  plan: { groups: readonly LabelGroup[]; serviceKills: number },
): Promise<void> {
  const story: string[] = [];
  const report = await runKillCampaign({
    ...plan,
    profile,
    kills: KILLS,
    acts: true,
    asksAgain: false,
    seed: Date.now() % 1_000_000,
    quietMs: QUIET_MS,
    report: (text) => void story.push(text),
  });
  console.log(summaryOf(profile, report));
  expect(report.violations, story.join("\n")).toEqual([]);
  expect(report.daemons.kills).toBeGreaterThanOrEqual(KILLS - 1);
  expect(new Set(report.daemons.passed).size).toBeGreaterThanOrEqual(LEAST_LABELS);
  expect(report.service.passed.length).toBeGreaterThanOrEqual(plan.serviceKills / 2);
  expect(report.fills.selfExecuted).toBeGreaterThanOrEqual(LEAST_FILLS);
  expect(report.fills.gasless).toBeGreaterThanOrEqual(LEAST_FILLS);
  expect(report.stopMs).toBeLessThan(8_000);
}
