import { describe, expect, it } from "vitest";
import { parseCron } from "../../../src/domain/schedule/parse-cron.ts";

describe("a cron expression", () => {
  it("reads values, ranges, steps, lists and names", () => {
    expect(parseCron("*/20 8-10 1,15 jan-mar,DEC mon-fri")).toEqual({
      minutes: [0, 20, 40],
      hours: [8, 9, 10],
      daysOfMonth: [1, 15],
      months: [1, 2, 3, 12],
      daysOfWeek: [1, 2, 3, 4, 5],
      eitherDay: true,
    });
  });

  it("takes Sunday as 0 and as 7, alone and at the end of a range", () => {
    for (const text of ["0 0 * * 0", "0 0 * * 7", "0 0 * * sun"]) {
      expect(parseCron(text)).toMatchObject({ daysOfWeek: [0], eitherDay: false });
    }
    expect(parseCron("0 0 * * 5-7")).toMatchObject({ daysOfWeek: [0, 5, 6] });
  });

  it("keeps both day fields binding when one of them is a stepped star", () => {
    expect(parseCron("0 0 */2 * mon")).toMatchObject({ eitherDay: true });
  });

  it.each([
    ["0 9 * *", "five fields"],
    ["0 9 * * * *", "five fields"],
    ["", "five fields"],
    ["@daily", "macro"],
    ["60 * * * *", 'minute "60": values run from 0 to 59'],
    ["* 24 * * *", 'hour "24": values run from 0 to 23'],
    ["* * 0 * *", 'day of month "0"'],
    ["* * * 13 *", 'month "13"'],
    ["* * * * 8", 'day of week "8"'],
    ["* * * * L", "day of week"],
    ["*/0 * * * *", "a step is at least 1"],
    ["*/60 * * * *", "a step is at most 59"],
    ["5/10 * * * *", "write 5-59/10"],
    ["50-10 * * * *", "runs backwards"],
    ["1,,2 * * * *", "minute"],
    ["1.5 * * * *", "minute"],
    ["-1 * * * *", "minute"],
    ["0 0 31 2,4 *", "no month"],
    ["0 0 30 feb *", "no month"],
    ["0 ".repeat(200), "at most 256 characters"],
  ])("refuses %j and says why", (text, problem) => {
    expect(parseCron(text)).toHaveProperty("problem", expect.stringContaining(problem));
  });

  it("accepts a day that no month of the list has when a weekday may match instead", () => {
    expect(parseCron("0 0 31 2 mon")).toMatchObject({ eitherDay: true });
  });
});
