import { defineConfig } from "vitest/config";
import { excludeOf, includeOf, SUITES } from "./test/suites.ts";

export default defineConfig({
  test: {
    projects: SUITES.map((suite, order) => ({
      extends: true as const,
      test: {
        name: suite.name,
        include: includeOf(suite),
        exclude: excludeOf(suite),
        maxWorkers: suite.workers,
        isolate: suite.sharesModules !== true,
        globalSetup: suite.startsSwapd === true ? ["test/e2e/support/bundled-program.ts"] : [],
        testTimeout: suite.testTimeoutSeconds * 1_000,
        hookTimeout: suite.testTimeoutSeconds * 1_000,
        sequence: { groupOrder: order },
        // What is waited for takes as long as the machine is busy; on a machine at rest it costs nothing.
        expect: { poll: { timeout: 20_000 } },
        // A test that passes at the second try has found something.
        retry: 0,
      },
    })),
    setupFiles: ["test/e2e/support/leave-nothing.ts"],
    passWithNoTests: true,
    coverage: { include: ["src/**"], reportsDirectory: "coverage" },
  },
});
