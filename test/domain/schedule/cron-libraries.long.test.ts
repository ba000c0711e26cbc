import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instantsBetween } from "../../../src/domain/schedule/next-instants.ts";
import { parseCron } from "../../../src/domain/schedule/parse-cron.ts";
import { followsElapsedTime } from "../../../src/domain/schedule/wall-pattern.ts";
import { type ClockChange, clockChanges, DAY_MS, ZONES, zones } from "./zone-data.ts";

/** Our instants alongside those of two well-known libraries. Where they differ, one of our rules says why. */

interface Range {
  readonly afterMs: number;
  readonly untilMs: number;
}

type Library = (expression: string, timezone: string, range: Range) => readonly number[];

const MOST = 2_000;

const SHIFTED = "SCH-4: they move a skipped time by the gap";
const LEFT_OUT = "SCH-4: they leave a skipped time out";
const TWICE = "SCH-5: they run in the second pass, too";
const SECOND = "SCH-5: they take the second pass";
const NO_FIRST = "SCH-6: they leave out the first instant after a gap";
const NO_REPEAT = "SCH-6: they leave out a part of the second pass";
const THROWN = "they throw where a clock changes by half an hour";

/** What each library does otherwise. They are slow: one is asked about every fourth year, the other about every tenth. */
const known: Readonly<Record<string, { readonly rules: readonly string[]; readonly everyYears: number }>> = {
  croner: { rules: [LEFT_OUT, TWICE], everyYears: 4 },
  "cron-parser": { rules: [LEFT_OUT, SHIFTED, TWICE, SECOND, NO_REPEAT, NO_FIRST, THROWN], everyYears: 10 },
};

const SLOW_MS = 120_000;
const HALF_A_NIGHT_MS = 6 * 3_600_000;

const libraries: Readonly<Record<string, Library>> = {
  croner: (expression, timezone, range) => {
    const cron = new Cron(expression, { timezone, legacyMode: true });
    const found: number[] = [];
    let next = cron.nextRun(new Date(range.afterMs));
    while (next !== null && next.getTime() <= range.untilMs && found.length < MOST) {
      found.push(next.getTime());
      next = cron.nextRun(next);
    }
    return found;
  },
  "cron-parser": (expression, timezone, range) => {
    const cron = CronExpressionParser.parse(expression, { tz: timezone, currentDate: new Date(range.afterMs) });
    const found: number[] = [];
    for (let next = cron.next().getTime(); next <= range.untilMs && found.length < MOST; next = cron.next().getTime()) {
      found.push(next);
    }
    return found;
  },
};

function ours(expression: string, timezone: string, range: Range): readonly number[] {
  return instantsBetween({ kind: "cron", expression, timezone }, range, zones, MOST);
}

const expressions = [
  ...["30 2 * * *", "0 2 * * *", "15 2 * * *", "30 1 * * *", "30 3 * * *", "30 0 * * *", "0 0 * * *"],
  ...["*/30 * * * *", "0 * * * *", "0,30 1-3 * * *", "0 */2 * * *", "0 12 * * *"],
];

interface Difference {
  readonly change: ClockChange;
  readonly expression: string;
  readonly instantMs: number;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

/** The rule that makes us differ; undefined when none does. */
function ruleFor({ change, expression, instantMs, ...lists }: Difference): string | undefined {
  const sizeMs = Math.abs(change.after - change.before) * 60_000;
  const offsetMs = instantMs - change.atMs;
  const isGap = change.after > change.before;
  const isOurs = lists.ours.includes(instantMs);
  const pattern = parseCron(expression);
  if ("problem" in pattern) throw new Error(pattern.problem);
  const isElapsed = followsElapsedTime(pattern);
  if (isGap && isOurs && offsetMs === 0) {
    return isElapsed ? NO_FIRST : LEFT_OUT;
  }
  if (isGap && !isOurs && 0 < offsetMs && offsetMs < sizeMs) return SHIFTED;
  if (isGap) return undefined;
  const isFirstPass = -sizeMs <= offsetMs && offsetMs < 0;
  const isSecondPass = 0 <= offsetMs && offsetMs < sizeMs;
  if (isOurs && isElapsed && isSecondPass) return NO_REPEAT;
  if (isOurs && isFirstPass && lists.theirs.includes(instantMs + sizeMs)) return SECOND;
  const isRepeated = !isOurs && isSecondPass && lists.ours.includes(instantMs - sizeMs);
  return isRepeated ? TWICE : undefined;
}

describe.each(Object.keys(libraries))("alongside %s", (name) => {
  const library = libraries[name] as Library;
  const { rules = [], everyYears = 1 } = known[name] ?? {};

  it(
    "every difference at a change of a clock from 2020 to 2040 comes from one of our rules",
    () => {
      const found = new Set<string>();
      const unexplained: string[] = [];
      for (const change of clockChanges()) {
        const { timezone, atMs } = change;
        if ((new Date(atMs).getUTCFullYear() - 2_020) % everyYears !== 0) continue;
        const range = { afterMs: atMs - HALF_A_NIGHT_MS, untilMs: atMs + HALF_A_NIGHT_MS };
        for (const expression of expressions) {
          const mine = ours(expression, timezone, range);
          let theirs: readonly number[];
          try {
            theirs = library(expression, timezone, range);
          } catch (error) {
            if (!(error instanceof Error) || timezone !== "Australia/Lord_Howe") throw error;
            found.add(THROWN);
            continue;
          }
          for (const instantMs of new Set([...mine, ...theirs])) {
            if (mine.includes(instantMs) && theirs.includes(instantMs)) continue;
            const rule = ruleFor({ change, expression, instantMs, ours: mine, theirs });
            if (rule === undefined) unexplained.push(`${timezone} ${expression} ${new Date(instantMs).toISOString()}`);
            else found.add(rule);
          }
        }
      }
      expect(unexplained).toEqual([]);
      expect([...found].sort()).toEqual([...rules].sort());
    },
    SLOW_MS,
  );

  it(
    "there is none in a month without a change, in any zone",
    () => {
      const changes = clockChanges();
      for (const timezone of ZONES) {
        for (const month of ["2026-07-10", "2028-02-28"]) {
          const range = { afterMs: Date.parse(month), untilMs: Date.parse(month) + 2 * DAY_MS };
          const isQuiet = changes.every(({ timezone: zone, atMs }) => {
            return zone !== timezone || atMs < range.afterMs - DAY_MS || atMs > range.untilMs + DAY_MS;
          });
          if (!isQuiet) continue;
          for (const expression of expressions) {
            expect(library(expression, timezone, range)).toEqual(ours(expression, timezone, range));
          }
        }
      }
    },
    SLOW_MS,
  );

  it("any expression means the same, month ends and leap days included", () => {
    fc.assert(
      fc.property(anyExpression, anyStart, (expression, afterMs) => {
        const range = { afterMs, untilMs: afterMs + 400 * DAY_MS };
        const mine = instantsBetween({ kind: "cron", expression, timezone: "UTC" }, range, zones, 40);
        const until = { afterMs, untilMs: Math.min(range.untilMs, mine.at(-1) ?? range.untilMs) };
        expect(library(expression, "UTC", until)).toEqual(mine);
      }),
      { numRuns: 300 },
    );
  });
});

const anyStart = fc
  .integer({ min: Date.parse("2020-01-01") / 1_000, max: Date.parse("2039-01-01") / 1_000 })
  .map((at) => at * 1_000);
const anyExpression = fc
  .tuple(
    fc.constantFrom("*", "*/7", "0", "59", "0,30", "15-45/10"),
    fc.constantFrom("*", "*/2", "0-4", "2", "1,2,3", "23", "8-18/3"),
    fc.constantFrom("*", "1", "29-31", "31", "29", "1,15,28-30"),
    fc.constantFrom("*", "3,10", "feb-apr", "2", "1-12/5"),
    fc.constantFrom("*", "0", "7", "mon-fri", "sat,sun", "5"),
  )
  .map((fields) => fields.join(" "))
  .filter((expression) => !("problem" in parseCron(expression)));

describe("steps in a day field alongside a restricted other one", () => {
  const range = { afterMs: Date.UTC(2026, 0, 1) - 1, untilMs: Date.UTC(2026, 4, 1) };
  for (const [name, library] of Object.entries(libraries)) {
    it.each(["0 9 */2 * 1", "0 9 */10,2 * 3", "0 9 2,*/10 * 1-5", "0 9 15 * */2", "0 9 */3 * */2", "0 9 31 2 */3"])(
      `mean the same days as in ${name}: %s`,
      (expression) => {
        expect(ours(expression, "UTC", range)).toEqual(library(expression, "UTC", range));
      },
    );
  }
});
