/** A part of the tests that runs as one vitest project, with the time it may take on two cores. */
export interface Suite {
  readonly name: string;
  /** folders below test/, and files, also by a pattern; a test that no suite names belongs to `unit` */
  readonly tests: readonly string[];
  readonly budgetSeconds: number;
  /** files at a time: one where load would change what is measured, more than cores where much of it waits for blocks */
  readonly workers: 1 | 2 | 3 | 4;
  readonly testTimeoutSeconds: number;
  /** files share the modules that they import, which saves loading them for each; pure code has nothing to share else */
  readonly sharesModules?: true;
  /** starts `swapd` again and again: from a bundle that is made once */
  readonly startsSwapd?: true;
  /**
   * runs alongside the next one, because one of the two mostly waits; or alongside all that come after it, which leave it
   * what they do not need
   */
  readonly alongside?: "next" | "rest";
  /** left out of `npm test`: `npm run test:long` runs it */
  readonly isLong?: true;
}

/** A test that takes too long for `npm test` says so in its file's name. */
const ANY_LONG_FILE = "**/*.long.test.ts";

/** In the order in which they run: what fails fastest comes first. */
export const SUITES: readonly Suite[] = [
  {
    // real clients at real limits, second by second
    name: "pace",
    tests: ["adapters/limiter/rate-limiter.test.ts", "adapters/swap-service/goes-on.test.ts"],
    budgetSeconds: 40,
    workers: 1,
    testTimeoutSeconds: 60,
    alongside: "next",
  },
  { name: "unit", tests: [], budgetSeconds: 120, workers: 2, testTimeoutSeconds: 30, sharesModules: true },
  {
    // the longest file of all, which mostly waits for swaps
    name: "main-job",
    tests: ["e2e/main-job.test.ts"],
    startsSwapd: true,
    budgetSeconds: 120,
    workers: 1,
    testTimeoutSeconds: 180,
    alongside: "next",
  },
  {
    // what computes and waits for nothing: days and years of a schedule, second by second; the whole daemon in worlds where
    // everything goes wrong
    name: "simulation",
    tests: ["domain/schedule/year.test.ts", "simulation"],
    budgetSeconds: 120,
    workers: 2,
    testTimeoutSeconds: 120,
    alongside: "rest",
  },
  {
    name: "chain",
    tests: [
      ...["adapters/prices/chain", "audit", "chain", "hosted-double", "hostile", "lane", "sandbox", "service"],
      "engine/perform/executions.test.ts",
    ],
    budgetSeconds: 150,
    sharesModules: true,
    workers: 4,
    testTimeoutSeconds: 120,
  },
  {
    name: "e2e",
    tests: ["app", "e2e"],
    startsSwapd: true,
    budgetSeconds: 120,
    sharesModules: true,
    workers: 4,
    testTimeoutSeconds: 180,
  },
  { name: "long", tests: [ANY_LONG_FILE], budgetSeconds: 600, workers: 2, testTimeoutSeconds: 400, isLong: true },
  {
    // compiled from their source, and random games with them: the short form of the long tests runs all of it
    name: "contracts",
    tests: ["contracts/*.long.test.ts"],
    budgetSeconds: 180,
    workers: 2,
    testTimeoutSeconds: 600,
    isLong: true,
  },
  {
    // kills of real processes, and cuts of real files
    name: "campaigns",
    tests: ["e2e/kill/*.long.test.ts", "simulation/*.long.test.ts"],
    budgetSeconds: 900,
    workers: 1,
    testTimeoutSeconds: 600,
    isLong: true,
  },
];

/** What vitest looks for. */
export function includeOf(suite: Suite): string[] {
  if (suite.tests.length === 0) return ["test/**/*.test.ts"];
  return suite.tests.map((place) => (place.endsWith(".test.ts") ? `test/${place}` : `test/${place}/**/*.test.ts`));
}

/** What vitest leaves to the other suites: files that they name, and all of theirs for a suite of what is left. */
export function excludeOf(suite: Suite): string[] {
  const isRest = suite.tests.length === 0 || suite.tests.includes(ANY_LONG_FILE);
  const others = SUITES.filter((other) => other !== suite && other.isLong === suite.isLong).flatMap(includeOf);
  const long = suite.isLong === true ? [] : [`test/${ANY_LONG_FILE}`];
  return ["node_modules/**", ...long, ...others.filter((place) => isRest || !place.includes("*"))];
}
