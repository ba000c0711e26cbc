import { globSync } from "node:fs";
import { expect, it } from "vitest";
import { excludeOf, includeOf, SUITES, type Suite } from "../suites.ts";

/** What stands alongside the files of the project. */
const NOT_OURS = "node_modules/**";

function filesOf(suite: Suite): readonly string[] {
  const outside = new Set(globSync(excludeOf(suite).filter((pattern) => pattern !== NOT_OURS)));
  return globSync(includeOf(suite)).filter((file) => !outside.has(file));
}

it("every test file belongs to exactly one suite", () => {
  const assigned = SUITES.flatMap((suite) => filesOf(suite)).sort();
  expect(assigned).toEqual(globSync("test/**/*.test.ts").sort());
});

it.each(SUITES.filter(({ isLong }) => isLong !== true).map((suite) => [suite.name, suite] as const))(
  "the suite %s, which npm test runs, leaves long tests out",
  (_name, suite) => {
    expect(filesOf(suite).filter((file) => file.endsWith(".long.test.ts"))).toEqual([]);
  },
);

it.each(SUITES.flatMap(({ name, tests }) => tests.map((place) => [name, place] as const)))(
  "the suite %s finds tests at %s",
  (_name, place) => {
    const files = globSync(place.endsWith(".test.ts") ? `test/${place}` : `test/${place}/**/*.test.ts`);
    expect(files.length).toBeGreaterThan(0);
  },
);
