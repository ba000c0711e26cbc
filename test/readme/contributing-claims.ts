import { type Claim, missing, showRunAndSwap } from "./claims.ts";

const NO_TYPING = () => undefined;
const FILE = "test/domain/guard/required-minimum.test.ts";
const UNTIL_THE_SANDBOX_TRADES = "sleep 15";

/** A command that needs a running sandbox, with one alongside it. */
function besideSandbox(command: string): string {
  const start = "npx swapd sandbox --port 0 --for 40s > /dev/null &";
  return `${start} ${UNTIL_THE_SANDBOX_TRADES}; ${command}; code=$?; wait; exit $code`;
}

/** One for each command of CONTRIBUTING.md. */
export const CONTRIBUTING_CLAIMS: readonly Claim[] = [
  { command: "npm run test:readme", typed: NO_TYPING, because: "this is it" },
  { command: "npm ci", limitSeconds: 300 },
  { command: `npx vitest run ${FILE}`, broken: (ended) => missing(ended, [/[1-9]\d* passed/]) },
  { command: `npx vitest run ${FILE} -t "never lies below"`, broken: (ended) => missing(ended, [/(?<!\d)1 passed/]) },
  { command: "npm test -- unit", typed: NO_TYPING, because: "the README's `npm test` runs it" },
  { command: "npm test -- wide", typed: NO_TYPING, because: "each `.ci/run` runs it whole" },
  { command: "npm run test:sim -- --seed 7 --trace", broken: (ended) => missing(ended, ["1 seeds, 0 failed"]) },
  {
    command: "npm run test:sim -- --seeds 60 --from 2000",
    typed: () => "npm run test:sim -- --seeds 6 --from 2000",
    because: "six show that it runs",
    broken: (ended) => missing(ended, ["6 seeds, 0 failed"]),
  },
  {
    command: "npm run test:kill -- --label gasless.sign.after --against swapd",
    limitSeconds: 600,
    broken: (ended) => missing(ended, [/\([1-9]\d* at 1 labels\)/]),
  },
  {
    command: "npm run test:kill -- --group lane --kills 30",
    typed: NO_TYPING,
    because: "the README's `npm run test:kill` has all groups",
  },
  {
    command: "npm run test:mutants -- --only permit-of-any-value",
    limitSeconds: 300,
    broken: (ended) => missing(ended, ["1 of 1 mutants caught"]),
  },
  { command: "npm run test:long -- --short files", typed: NO_TYPING, because: "it takes many minutes" },
  {
    command: "npx swapd plan",
    // The answer may be no: 1 says that a slot would be denied.
    typed: () => besideSandbox("npx swapd plan || [ $? -eq 1 ]"),
    because: "alongside a sandbox",
    broken: (ended) => missing(ended, ["take-profit", "eth-from-usdc"]),
  },
  {
    command: "npx swapd why take-profit --next",
    typed: () => besideSandbox("npx swapd why take-profit --next"),
    because: "alongside a sandbox",
    broken: (ended) => missing(ended, ["if it were now"]),
  },
  { command: "npx swapd why take-profit", broken: (ended) => missing(ended, [/^take-profit /m]) },
  { command: "npx swapd history --json", broken: (ended) => missing(ended, ['"runs":[']) },
  { command: "npx swapd show <id>", typed: showRunAndSwap, because: "with the ids of a run and of its swap" },
  {
    command: "npx swapd replay <run>",
    typed: async (visit) => (await showRunAndSwap(visit)).split(" && ")[0]?.replace(" show ", " replay "),
    because: "with the id of a run",
    broken: (ended) => missing(ended, ["steps taken again"]),
  },
  { command: "npx swapd audit", broken: (ended) => missing(ended, ["No difference"]) },
  {
    command: "npx node --cpu-prof --cpu-prof-dir=.swapd/profiles bin/swapd.js sandbox --for 30s",
    typed: () =>
      "npx node --cpu-prof --cpu-prof-dir=.swapd/profiles bin/swapd.js sandbox --port 0 --for 30s && ls .swapd/profiles",
    because: "with free ports, and a check of what it leaves",
    broken: (ended) => missing(ended, [/\.cpuprofile$/m]),
  },
  { command: "npm run bench -- routing", typed: NO_TYPING, because: "figures need a machine at rest" },
  { command: "npm run check", typed: NO_TYPING, because: "typed with the README" },
  { command: "npm run errors" },
  {
    command: "npm run release -- 0.2.0",
    typed: NO_TYPING,
    because: "test/scripts/release.long.test.ts makes a release of a copy",
  },
];
