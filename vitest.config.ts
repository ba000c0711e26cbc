import { defineConfig } from "vitest/config";
import { excludeOf, includeOf, SUITES } from "./test/suites.ts";
import { placeInMemory } from "./test/support/place-in-memory.ts";

const inMemory = placeInMemory();

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
        // The long ones install packages and fill disks: they stay on one.
        env: inMemory === undefined || suite.isLong === true ? {} : { TMPDIR: inMemory },
        testTimeout: suite.testTimeoutSeconds * 1_000,
        hookTimeout: suite.testTimeoutSeconds * 1_000,
        sequence: { groupOrder: order },
        // What is waited for takes as long as the machine is busy; on a machine at rest it costs nothing.
        expect: { poll: { timeout: 20_000 } },
        // A test that passes at the second try has found something.
        retry: 0,
      },
    })),
    // Short-lived values are most of what a test makes: with room for them, collecting takes a tenth less processor time. Most
    // code runs once: its quickest compilation is the best one.
    execArgv: ["--max-semi-space-size=64", "--min-semi-space-size=32", "--always-sparkplug"],
    setupFiles: ["test/e2e/support/leave-nothing.ts"],
    passWithNoTests: true,
    // Modules are loaded as the daemon loads them, by Node itself: calls between them go by no getter, which is a tenth of the
    // processor time of all tests. No test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    coverage: { include: ["src/**"], reportsDirectory: "coverage" },
  },
});
