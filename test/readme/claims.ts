import type { Person } from "./person.ts";
import { shapeOf } from "./readme-commands.ts";
import type { Ended } from "./typed.ts";

/** One reader who types the README from its top to its end. */
export interface Visit {
  readonly person: Person;
  /** lines that the README shows as a sample of what a start prints */
  readonly samples: readonly string[];
  /** types something more than the README says */
  type(command: string, limitSeconds?: number): Promise<Ended>;
  /** starts the network that the reader trades on, and sets the variables of its endpoints */
  connect(): Promise<void>;
  fund(): Promise<void>;
  /** what was seen on the way and is checked against what comes later */
  readonly seen: { hashes: readonly string[]; address: string };
}

/** What the README promises of one of its commands. */
export interface Claim {
  /** as it stands in the README */
  readonly command: string;
  /** what is typed instead; undefined when nothing is. Without it the command as it stands. */
  readonly typed?: (visit: Visit) => Promise<string | undefined> | string | undefined;
  /** why something else or nothing is typed */
  readonly because?: string;
  /** typed by the first reader only; what later ones type instead */
  readonly later?: string;
  readonly isTestRun?: true;
  readonly limitSeconds?: number;
  /** what the reader does before it by hand */
  readonly before?: (visit: Visit) => Promise<void> | void;
  /** promises that were broken, as sentences; the exit code 0 is promised always */
  readonly broken?: (ended: Ended, visit: Visit) => readonly string[];
}

const STRATEGIES = ["bitcoin-mix", "eth-from-usdc", "gas-tank", "path-of-ether", "slow-dai-exit", "take-profit"];
/** One strategy of each kind. */
const ONE_OF_A_KIND = ["eth-from-usdc", "bitcoin-mix", "take-profit"];
const MODES = ["self-executed", "gasless"];
const HALF_A_MINUTE_MS = 30_000;
/** About five minutes, on a machine that does nothing else. */
const MOST_SECONDS = 300;
const CONFIG = "--config ~/swapd/swapd.yaml";
export function missing(ended: Ended, wanted: readonly (string | RegExp)[]): readonly string[] {
  return wanted
    .filter((one) => (typeof one === "string" ? !ended.text.includes(one) : !one.test(ended.text)))
    .map((one) => `the output has no ${typeof one === "string" ? JSON.stringify(one) : one}`);
}

function swapLines(ended: Ended, mode: string): Ended["lines"] {
  return ended.lines.filter(({ text }) => /^\d{4}-\d\d-\d\dT/.test(text) && text.includes(` ${mode} `));
}

function brokenByStart(ended: Ended, visit: Visit): readonly string[] {
  const began = ended.lines.find(({ text }) => /^> swapd@\S+ start$/.test(text))?.atMs ?? 0;
  const broken: string[] = [];
  for (const mode of MODES) {
    const swaps = swapLines(ended, mode);
    if (swaps.length < 3) broken.push(`${swaps.length} swaps ${mode}, wanted are three`);
    const afterMs = (swaps[0]?.atMs ?? Number.POSITIVE_INFINITY) - began;
    if (afterMs > HALF_A_MINUTE_MS)
      broken.push(`the first swap ${mode} came ${Math.round(afterMs / 1_000)} s after the start`);
  }
  for (const sample of visit.samples) {
    const shape = shapeOf(sample);
    if (!ended.lines.some(({ text }) => shape.test(text.trim()))) broken.push(`no line looks like ${sample}`);
  }
  const traded = MODES.flatMap((mode) => swapLines(ended, mode)).map(({ text }) => text.split(/\s+/)[1]);
  for (const strategy of ONE_OF_A_KIND) if (!traded.includes(strategy)) broken.push(`${strategy} did not trade`);
  const running = ended.lines.find(({ text }) => text.startsWith("running "))?.text ?? "";
  for (const strategy of STRATEGIES) if (!running.includes(strategy)) broken.push(`${strategy} does not run`);
  visit.seen.hashes = ended.text.match(/\b0x[0-9a-f]{64}\b/g) ?? [];
  return broken;
}

export async function showRunAndSwap(visit: Visit): Promise<string> {
  const { text } = await visit.type("npx swapd history --json");
  const { runs } = JSON.parse(text) as { runs: { id: string; state: string; swaps: { id: string }[] }[] };
  const filled = runs.find(({ state }) => state === "filled");
  return `npx swapd show ${filled?.id} && npx swapd show ${filled?.swaps[0]?.id}`;
}

function brokenByHistoryJson(ended: Ended): readonly string[] {
  const { runs } = JSON.parse(ended.text) as { runs: { id: string; swaps: { id: string }[] }[] };
  const ids = runs.flatMap((run) => [run.id, ...run.swaps.map(({ id }) => id)]);
  return ids.length > 0 && ids.every((id) => /^run_\w+/.test(id)) ? [] : ["it has no ids of runs and swaps"];
}

function brokenByTests(ended: Ended): readonly string[] {
  const seconds = Number(/^all\s+(\d+) s$/m.exec(ended.text)?.[1] ?? Number.NaN);
  return [
    ...missing(ended, [/^\d+ passed, 0 failed, 0 skipped$/m]),
    ...(seconds <= MOST_SECONDS ? [] : [`the tests took ${seconds} s, promised are less than five minutes`]),
  ];
}

const LEAST_KILLS = 50;

function brokenByKills(ended: Ended): readonly string[] {
  const summaries = [...ended.text.matchAll(/^(\w+), seed \d+: (\d+) kills of daemons/gm)];
  const few = summaries.filter(([, , kills]) => Number(kills) < LEAST_KILLS);
  return summaries.length === 2 && few.length === 0 ? [] : [`not ${LEAST_KILLS} kills against each of two services`];
}

const LOOKING: readonly Claim[] = [
  {
    command: "npm ci && npm start",
    typed: () => "npm ci && npm start -- --for 60s",
    because: "the README says that this stops by itself",
    limitSeconds: 300,
    broken: brokenByStart,
  },
  { command: "npm start -- --for 60s", typed: () => undefined, because: "typed as the first command" },
  {
    command: "npx swapd history",
    broken: (ended, visit) => missing(ended, [...STRATEGIES, ...MODES, /\bfilled\b/, ...visit.seen.hashes]),
  },
  {
    command: "npx swapd status",
    broken: (ended) => missing(ended, [...STRATEGIES, /^swaps: .*\b\d+ final\b/m]),
  },
  { command: "npx swapd audit", broken: (ended) => missing(ended, ["No difference"]) },
  {
    command: "npx swapd why take-profit",
    broken: (ended) => missing(ended, [/^take-profit (?:at \S+: \w+|had no run: .+)/m]),
  },
  {
    command: "npx swapd export --format csv > trades.csv",
    broken: (ended) => missing(ended, [/^[1-9]\d* swaps and \d+ transactions with gas alone, on the sandbox/m]),
  },
  {
    command: "npx swapd report --html report.html",
    broken: (ended) => missing(ended, [/^report\.html: [1-9]\d* swaps/m]),
  },
  { command: "npx swapd lots", broken: (ended) => missing(ended, [/^HELD IN /m, /^LEFT /m]) },
  {
    command: "npx swapd backtest --strategy FILE --prices WETH/USDC=candles.csv --html report.html",
    typed: () => undefined,
    because: "the candles are the reader's; test/app/backtest plays some",
  },
  {
    command: "npx swapd login --sandbox",
    broken: (ended) => missing(ended, [/^[2-9A-Z]{4}-[2-9A-Z]{4}-[2-9A-Z]{4}$/m]),
  },
  { command: "npx swapd history --json", broken: brokenByHistoryJson },
  {
    command: "npx swapd show <id>",
    typed: showRunAndSwap,
    because: "with the ids of a run and of its swap",
    broken: (ended) =>
      missing(ended, [
        /deciding -> executing/,
        /cleared -> .*signed/s,
        /^CHECK +FOUND +ALLOWED(?: +DENIED AS)?$/m,
        /^ok +\w+/m,
      ]),
  },
];

const TESTING: readonly Claim[] = [
  {
    command: "npm ci && npm test",
    isTestRun: true,
    later: "npm ci && npm test -- pace",
    because: "the tests run once; one suite shows that they can",
    limitSeconds: 1_800,
    broken: brokenByTests,
  },
  { command: "npm run check", limitSeconds: 300 },
  {
    command: "npm run test:long",
    later: "npm run test:long -- --short mutants",
    because: "the long form takes hours",
    limitSeconds: 900,
  },
  {
    command: "npm run test:mutants",
    later: "npm run test:mutants -- --only permit-of-any-value",
    because: "all of them take minutes, and one shows that it runs",
    limitSeconds: 300,
  },
  {
    command: "npm run test:kill",
    later: "npm run test:kill -- --label lane.sign.before --kills 4",
    because: "fifty kills against each once are enough",
    limitSeconds: 900,
    broken: brokenByKills,
  },
  {
    command: "npm run test:kill-service",
    later: "npm run test:kill-service -- --kills 10",
    because: "fifty kills once are enough",
    limitSeconds: 600,
  },
  { command: "npm run test:readme", typed: () => undefined, because: "this is it" },
];

const TRADING: readonly Claim[] = [
  {
    command: "export RPC_1=https://...",
    typed: () => undefined,
    because: "endpoints are the reader's; here of a chain like Base, with nothing of ours on it",
    before: (visit) => visit.connect(),
  },
  {
    command: "npx swapd init --dir ~/swapd",
    typed: () => 'npx swapd init --dir ~/swapd --yes --network base --sell "25 USDC" --buy WETH --at "every 5s"',
    because: "with flags instead of answers, and slots that a test can wait for",
    broken: (ended) =>
      missing(ended, [
        /^written to .*swapd: .*swapd\.yaml$/m,
        /^next +swapd check /m,
        "nothing is signed on paper",
        "USDC is 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "transactions are simulated by eth_simulateV1",
      ]),
  },
  {
    command: `npx swapd check ${CONFIG}`,
    broken: (ended) =>
      missing(ended, [
        "the files are in order; 1 strategy (buy-weth)",
        "mode paper",
        /^ok +main on paper .*1250 USDC/m,
      ]),
  },
  {
    command: `npx swapd start ${CONFIG}`,
    typed: () => `npx swapd start ${CONFIG} --for 20s`,
    because: "for seconds, not for days",
    broken: (ended) => missing(ended, ['"mode":"paper"', '"msg":"the daemon is up"']),
  },
  {
    command: `npx swapd history ${CONFIG}`,
    broken: (ended) =>
      missing(ended, [/buy-weth +\w+ +\w+ +25 USDC +[\d.]+ WETH +[\d.]+ USDC for 1 WETH/, "than holding"]),
  },
  {
    command: "npx swapd init --dir ~/swapd --yes --wallet new",
    broken: (ended, visit) => {
      visit.seen.address = /^wallet +(0x[0-9a-fA-F]{40}): fund it/m.exec(ended.text)?.[1] ?? "";
      return missing(ended, [/^wallet +0x[0-9a-fA-F]{40}: fund it with little: USDC to sell, and ETH for gas$/m]);
    },
  },
  {
    command: `npx swapd live ${CONFIG}`,
    before: (visit) => visit.fund(),
    typed: () => `npx swapd live ${CONFIG} --yes`,
    because: "with --yes instead of an answer",
    broken: (ended) =>
      missing(ended, ["at worst", "buy-weth trades from its next slot on: ", "is live now: mode: live"]),
  },
  {
    command: `npx swapd audit ${CONFIG}`,
    before: async (visit) => {
      await visit.type(`npx swapd start ${CONFIG} --for 40s`);
    },
    typed: () => `npx swapd history ${CONFIG} && npx swapd audit ${CONFIG}`,
    because: "after a start that was live, which has to have traded",
    broken: (ended) => missing(ended, [/buy-weth +filled +(?:final|confirmed) +self-executed/, "No difference"]),
  },
  { command: `npx swapd pause ${CONFIG}`, broken: (ended) => missing(ended, ["is paused"]) },
  { command: `npx swapd halt ${CONFIG}`, broken: (ended) => missing(ended, ["is halted"]) },
];

const IN_A_CONTAINER: readonly Claim[] = [
  "docker compose run --rm -v ./config:/config swapd init",
  "docker compose up -d",
  "docker compose exec swapd swapd login",
  "docker compose exec swapd swapd export --format csv > trades.csv",
  "docker compose exec swapd swapd notify test",
].map((command) => ({
  command,
  typed: () => undefined,
  because: "it needs a container engine; test/e2e/image.long.test.ts does the same in the image",
}));

/** One for each command of the README. */
export const CLAIMS: readonly Claim[] = [...LOOKING, ...TESTING, ...TRADING, ...IN_A_CONTAINER];
