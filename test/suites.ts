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
  /** left out of `npm test`, too, and run whole by each `.ci/run` */
  readonly isWide?: true;
}

/**
 * The files that cost most, together more processor time than all others: what they hold is mostly held by quicker ones in
 * other ways.
 */
const WIDE: readonly string[] = [
  // whole processes, started again and again
  "app/backup-and-restore.test.ts",
  "app/chat.test.ts",
  "app/doctor-on-a-chain.test.ts",
  "app/doctor.test.ts",
  "app/end-on-uncaught.test.ts",
  "app/http/api/actions.test.ts",
  "app/init-networks.test.ts",
  "app/init/interview.test.ts",
  "app/init/on-a-chain.test.ts",
  "app/init/usable-folder.test.ts",
  "app/mode-in-one-line.test.ts",
  "app/reach-the-daemon.test.ts",
  "app/sandbox-start.test.ts",
  "app/serve-exit.test.ts",
  "app/settlement-deployment.test.ts",
  "app/stalled-log.test.ts",
  "app/started-daemon.test.ts",
  "app/stop-signals.test.ts",
  "app/wallet.test.ts",
  "app/without-development-packages.test.ts",
  "e2e/canary.test.ts",
  "e2e/check.test.ts",
  "e2e/ended-start.test.ts",
  "e2e/init.test.ts",
  "e2e/left-behind.test.ts",
  "e2e/paper.test.ts",
  // chains of their own for each test
  "audit/accepted.test.ts",
  "audit/nodes.test.ts",
  "audit/open-orders.test.ts",
  "audit/retention.test.ts",
  "chain/abilities.test.ts",
  "chain/at-block/batch-reader.test.ts",
  "chain/rpc-pool.test.ts",
  "chain/simulation/methods.test.ts",
  "chain/simulation/odd-swaps.test.ts",
  "chain/simulation/router-swaps.test.ts",
  "engine/perform/executions.test.ts",
  "hosted-double/hosted-double.test.ts",
  "lane/between.test.ts",
  "lane/foreign-nonce.test.ts",
  "lane/let-go.test.ts",
  "lane/losses.test.ts",
  "lane/nonce-gap.test.ts",
  "lane/private-sending.test.ts",
  "lane/replacement.test.ts",
  "lane/sends.test.ts",
  "lane/signer-elsewhere.test.ts",
  "sandbox/lifecycle.test.ts",
  "sandbox/market.test.ts",
  "service/data-fees/data-fees.test.ts",
  "service/http/endpoints.test.ts",
  "service/http/front-bounds.test.ts",
  "service/http/recovery.test.ts",
  "service/pools/executed-equals-quoted.test.ts",
  "service/pools/one-block.test.ts",
  "service/pools/pancakeswap-v3/executed-equals-quoted.test.ts",
  "service/pools/slipstream/executed-equals-quoted.test.ts",
  "service/pools/uniswap-v4/executed-equals-quoted.test.ts",
  "service/pools/uniswap-v4/settled.test.ts",
  "service/quotes/routed-through-pancakeswap.test.ts",
  "service/quotes/routed-through-slipstream.test.ts",
  "service/relayer/execute-swap.test.ts",
  "service/relayer/expected-gas.test.ts",
  "service/relayer/fee-tokens.test.ts",
  "service/relayer/no-relayer.test.ts",
  "service/relayer/one-balance.test.ts",
  "service/relayer/tips.test.ts",
  "service/settlement/fat-answers.test.ts",
  "service/settlement/public-router.test.ts",
  "service/settlement/solidly-router.test.ts",
  "service/simulation/simulator.test.ts",
  // thousands of rows or of calls, or a program built from a page
  "adapters/swap-service/public-routers/calldata.test.ts",
  "adapters/swap-service/public-routers/slipstream-router.test.ts",
  "docs/writing-a-channel.test.ts",
  "docs/writing-a-kind.test.ts",
  "docs/writing-a-network.test.ts",
  "docs/writing-a-service.test.ts",
  "engine/archived-answers.test.ts",
  "engine/archived-runs.test.ts",
  "engine/grown-orders.test.ts",
  "engine/outside-watch.test.ts",
  "engine/reconcile/another-database.test.ts",
  "net/kept-connections.test.ts",
  // days of an engine, or a year of a schedule, on a virtual clock; what waits by the real one
  "adapters/cron/ticker.test.ts",
  "adapters/notify/alert-sender.test.ts",
  "adapters/notify/alert-sender-clock.test.ts",
  "domain/schedule/year.test.ts",
  "engine/clock-ahead-run.test.ts",
  "engine/clock-watch.test.ts",
  "engine/edited-schedules.test.ts",
  "engine/editions.test.ts",
  "engine/holds.test.ts",
  "engine/messages.test.ts",
  "engine/native-share.test.ts",
  "engine/one-false-head.test.ts",
  "engine/paper.test.ts",
  "engine/public-fallback.test.ts",
  "engine/reconcile/accepted-sales.test.ts",
  "engine/reconcile/reconciler.test.ts",
  "engine/reconcile/restarted-after-acceptance.test.ts",
  "engine/reconcile/slot-of-another-database.test.ts",
  "simulation/log-cut.test.ts",
  "simulation/same-seed.test.ts",
  "simulation/source.test.ts",
];

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
    // what computes and waits for nothing: the whole daemon in worlds where everything goes wrong
    name: "simulation",
    tests: ["simulation"],
    budgetSeconds: 120,
    workers: 2,
    testTimeoutSeconds: 120,
    alongside: "rest",
  },
  {
    name: "chain",
    tests: ["adapters/prices/chain", "audit", "chain", "hosted-double", "hostile", "lane", "sandbox", "service"],
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
  {
    name: "wide",
    tests: WIDE,
    startsSwapd: true,
    budgetSeconds: 400,
    sharesModules: true,
    workers: 4,
    testTimeoutSeconds: 180,
    isWide: true,
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
