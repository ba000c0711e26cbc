import { describe, expect, it } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { DCA, loaded, strategyProblems } from "./project.ts";

function spec(text: string): StrategySpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy === undefined) throw new Error("no strategy was loaded");
  return strategy.spec;
}

const schedule = (text: string): string => DCA.replace("{ every: 6h }", text);
const catchUp = (text: string): string => `${DCA}catch_up: ${text}\n`;

describe("a schedule", () => {
  it("takes windows, blackouts, jitter, an anchor and days of the month", () => {
    expect(spec(schedule('{ at: "1st,last 09:00", jitter: 10m }')).schedule).toMatchObject({
      ...{ kind: "at", monthDays: [1, 31], hour: 9, jitterSeconds: 600 },
    });
    const every = '{ every: 2h, anchor: "2026-11-03T08:00Z", timezone: Europe/Berlin, windows: ["Mon-Fri 22:00-06:00"]';
    expect(spec(schedule(`${every}, blackouts: [2026-12-24, 2026-12-31..2027-01-01] }`)).schedule).toMatchObject({
      ...{ kind: "every", seconds: 7_200, anchorSeconds: 1_793_692_800, timezone: "Europe/Berlin" },
      windows: [{ days: [1, 2, 3, 4, 5], fromMinute: 1_320, untilMinute: 360 }],
      blackouts: [
        { firstDay: 20_811, lastDay: 20_811 },
        { firstDay: 20_818, lastDay: 20_819 },
      ],
    });
  });

  it.each([
    ['{ at: "32nd 09:00" }', '5:17 schedule.at: "32nd" is no day of the month'],
    ['{ at: "1st,Mon 09:00" }', '5:17 schedule.at: "mon" is no day of the month'],
    ["{ every: 1h, jitter: 1h }", "5:32 schedule.jitter: is not shorter than the shortest time between two slots, 1h"],
    [
      '{ at: "09:00", anchor: "2026-11-03T08:00Z" }',
      "5:26 schedule.anchor: only elapsed time is counted from an anchor",
    ],
    ["{ every: 1h, anchor: 2026-11-03 }", '5:32 schedule.anchor: "2026-11-03" is no instant'],
    ['{ every: 1h, windows: ["9-17"] }', '5:34 schedule.windows.0: "9-17" is no window such as'],
    ['{ every: 1h, windows: ["09:00-09:00"] }', '5:34 schedule.windows.0: "09:00-09:00" is empty'],
    ['{ every: 1h, windows: ["Mo-Fri 09:00-17:00"] }', '5:34 schedule.windows.0: "mo-fri" is no day'],
    ['{ at: "09:00", windows: ["10:00-11:00"] }', "5:35 schedule.windows: none of the schedule's instants lies in"],
    ["{ every: 1h, blackouts: [2026-02-30] }", '5:36 schedule.blackouts.0: "2026-02-30" is no date'],
    ["{ every: 1h, blackouts: [2026-03-02..2026-03-01] }", '5:36 schedule.blackouts.0: "2026-03-02..2026-03-01" runs'],
  ])("%s is refused", (text, expected) => {
    const found = strategyProblems(schedule(text));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });
});

describe("catch_up", () => {
  it("is `latest` with its own window where nothing is said, and takes every policy", () => {
    expect(spec(DCA).catchUp).toEqual({ policy: "latest", windowSeconds: undefined, maxRuns: 3, maxMultiple: 2 });
    expect(spec(catchUp("{ policy: skip }")).catchUp).toMatchObject({ policy: "skip" });
    expect(spec(catchUp("{ window: 2h }")).catchUp).toMatchObject({ policy: "latest", windowSeconds: 7_200 });
    expect(spec(catchUp("{ policy: all, window: 2d, max_runs: 5 }")).catchUp).toMatchObject({
      ...{ policy: "all", windowSeconds: 172_800, maxRuns: 5 },
    });
    expect(spec(catchUp("{ policy: accumulate, window: 2d, max_multiple: 4 }")).catchUp).toMatchObject({
      ...{ policy: "accumulate", maxMultiple: 4 },
    });
  });

  it.each([
    ["{ policy: accumulate }", "the policy accumulate needs a window: slots older than it are not caught up"],
    ["{ policy: all }", "the policy all needs a window"],
    ["{ policy: skip, window: 1h }", "catch_up.window: means nothing with the policy skip"],
    ["{ max_runs: 3 }", "catch_up.max_runs: means nothing with the policy latest"],
    ["{ policy: all, window: 1d, max_multiple: 3 }", "catch_up.max_multiple: means nothing with the policy all"],
    ["{ policy: all, window: 1d, max_runs: 0 }", "catch_up.max_runs: needs a whole number from 1 to 100"],
    ["{ policy: newest }", "catch_up.policy:"],
  ])("%s is refused", (text, expected) => {
    const found = strategyProblems(catchUp(text));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });
});

it("ALL-7 what asks for more than the policy is refused with both places", () => {
  const [found, ...more] = strategyProblems(`${DCA}limits: { slippage: 40% }\n`);
  expect(more).toEqual([]);
  expect(found).toMatch(/limits\.slippage: 40% is more than the policy's max_slippage of .* \(.*policy.*:[0-9]+/);
});

it.each([
  ["sell: 100", "needs text with its unit"],
  ['sell: "100"', "is no amount with its unit"],
  ["sel: 1", "sel"],
])("ALL-8 a value without its unit, or a key that nobody knows, is refused with its place: %s", (line, expected) => {
  const text = line.startsWith("sell") ? DCA.replace(/^sell: .*$/m, line) : `${DCA}${line}\n`;
  const found = strategyProblems(text);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/[0-9]+:[0-9]+/);
  expect(found[0]).toContain(expected);
});
