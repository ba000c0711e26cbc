import { describe, expect, it } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { DCA, loaded, strategyProblems } from "./project.ts";

function spec(text: string): StrategySpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy === undefined) throw new Error("no strategy was loaded");
  return strategy.spec;
}

describe("a schedule", () => {
  const schedule = (text: string): string => DCA.replace("{ every: 6h }", text);

  it.each([
    [
      '{ cron: "*/5 9-17 * * mon-fri", timezone: America/New_York }',
      { kind: "cron", expression: "*/5 9-17 * * mon-fri", timezone: "America/New_York" },
    ],
    ['{ cron: "0 9 * * 1" }', { kind: "cron", timezone: "UTC" }],
    ['{ at: "daily 09:00" }', { kind: "at", days: [0, 1, 2, 3, 4, 5, 6], hour: 9 }],
    ['{ at: "9:05" }', { kind: "at", days: [0, 1, 2, 3, 4, 5, 6], hour: 9, minute: 5 }],
    ['{ at: "Fri-Mon 23:59" }', { kind: "at", days: [0, 1, 5, 6] }],
    ["{ at: Wednesday 12:00 }", { kind: "at", days: [3] }],
    ["{ every: 1w }", { kind: "every", seconds: 604_800 }],
  ])("%s is taken", (text, expected) => {
    expect(spec(schedule(text)).schedule).toMatchObject(expected);
  });

  it.each([
    ["{ timezone: UTC }", "5:11 schedule: needs exactly one of cron, at and every; none is there"],
    [
      "{ every: 1h, at: daily 09:00 }",
      "5:11 schedule: needs exactly one of cron, at and every; there are at and every",
    ],
    ['{ cron: "0 25 * * *" }', '5:19 schedule.cron: hour "25": values run from 0 to 23'],
    ['{ at: "Mo 25:00" }', '5:17 schedule.at: "25:00" is no time of day'],
    ['{ at: "Xyz 09:00" }', '5:17 schedule.at: "xyz" is no day'],
    ['{ at: "Mondey 09:00" }', '5:17 schedule.at: "mondey" is no day'],
    ["{ at: 09:30 }", "5:17 schedule.at: YAML 1.1 reads an unquoted time as a base-60 number"],
    [
      '{ at: "09:30", timezone: Europe/Berln }',
      '5:36 schedule.timezone: "Europe/Berln" is no time zone that this machine knows -> did you mean "Europe/Berlin"?',
    ],
    [
      '{ at: "09:30", timezone: "+02:00" }',
      '5:36 schedule.timezone: "+02:00" is a fixed offset, which follows no summer time',
    ],
    ["{ every: 6h, timezone: Europe/Berlin }", "5:24 schedule.timezone: elapsed time has no time zone"],
    ["{ every: 0s }", '5:20 schedule.every: "0s" is not between'],
    ["{ every: 1500ms }", '5:20 schedule.every: "1500ms" is no whole number of seconds'],
    ["{ every: 21600 }", "5:20 schedule.every: needs text with its unit"],
  ])("%s is refused", (text, expected) => {
    const found = strategyProblems(schedule(text));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  it.each([
    ["{ every: 10s }", 5],
    ["{ every: 1s }", 1],
    ['{ at: "Mon 09:00" }', 3_600],
    ['{ cron: "*/10 * * * *" }', 300],
  ])("%s allows retries for half its interval, an hour at most", (text, seconds) => {
    expect(spec(schedule(text)).retryForSeconds).toBe(seconds);
  });
});
