import { describe, expect, it } from "vitest";
import { parseAt } from "../../../src/domain/schedule/parse-at.ts";

const ALL = [0, 1, 2, 3, 4, 5, 6];

describe("the times of an `at` schedule", () => {
  it.each([
    ["09:00", { days: ALL, hour: 9, minute: 0 }],
    ["daily 9:05", { days: ALL, hour: 9, minute: 5 }],
    ["Mon 09:00", { days: [1], hour: 9, minute: 0 }],
    ["Thu,Mon 23:59", { days: [1, 4], hour: 23, minute: 59 }],
    ["mon-fri 00:00", { days: [1, 2, 3, 4, 5], hour: 0, minute: 0 }],
    ["Monday,Sunday 12:30", { days: [0, 1], hour: 12, minute: 30 }],
  ])("reads %s", (text, rule) => {
    expect(parseAt(text)).toEqual(rule);
  });

  it("lets a range run over the end of the week, and ends it", () => {
    expect(parseAt("Fri-Mon 08:00")).toEqual({ days: [0, 1, 5, 6], hour: 8, minute: 0 });
  });

  it.each([
    ["", "no time of day"],
    ["9", "no time of day"],
    ["24:00", "hours run to 23"],
    ["12:60", "minutes to 59"],
    ["Mo 09:00", "is no day"],
    ["Mondays 09:00", "is no day"],
    ["Mon-Tue-Wed 09:00", "is no day"],
    ["Mon, Tue 09:00", "no time of day"],
    ["1 09:00", "is no day"],
  ])("takes %j for no time, instead of for another one", (text, problem) => {
    expect(parseAt(text)).toMatchObject({ problem: expect.stringContaining(problem) });
  });
});
