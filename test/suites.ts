/** A part of the tests that runs as one vitest project, with the time it may take on two cores. */
export interface Suite {
  readonly name: string;
  /** folders and files below test/; a test that no suite names belongs to `unit` */
  readonly tests: readonly string[];
  readonly budgetSeconds: number;
  /** files at a time: one where load would change what is measured */
  readonly workers: 1 | 2;
  readonly testTimeoutSeconds: number;
}

/** In the order in which they run: what fails fastest comes first. Their budgets stay below ten minutes together. */
export const SUITES: readonly Suite[] = [
  { name: "unit", tests: [], budgetSeconds: 70, workers: 2, testTimeoutSeconds: 30 },
  { name: "contracts", tests: ["contracts"], budgetSeconds: 45, workers: 2, testTimeoutSeconds: 120 },
  {
    name: "chain",
    tests: [
      "adapters/ethers",
      "adapters/prices/chain",
      "audit",
      "hosted-double",
      "hostile",
      "lane",
      "sandbox",
      "service",
    ],
    budgetSeconds: 150,
    workers: 2,
    testTimeoutSeconds: 120,
  },
  { name: "pace", tests: ["adapters/limiter"], budgetSeconds: 40, workers: 1, testTimeoutSeconds: 60 },
  { name: "e2e", tests: ["app", "e2e", "simulation"], budgetSeconds: 290, workers: 1, testTimeoutSeconds: 180 },
];

/** What vitest looks for. */
export function includeOf(suite: Suite): string[] {
  return suite.tests.length === 0 ? ["test/**/*.test.ts"] : suite.tests.map((place) => `test/${place}/**/*.test.ts`);
}

/** What vitest leaves to the other suites. */
export function excludeOf(suite: Suite): string[] {
  const others = SUITES.filter((other) => other !== suite && suite.tests.length === 0);
  return ["node_modules/**", ...others.flatMap((other) => includeOf(other))];
}
