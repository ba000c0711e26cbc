import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * What takes too long for `npm test`: `main.ts [--short] [NAME...]`. All of it runs, whatever fails; ends with 1 when
 * anything did. The short form is a sample of each that has one, in minutes; the long form takes hours.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: "boolean", default: false } },
});

interface LongTest {
  readonly name: string;
  readonly what: string;
  readonly full: readonly string[];
  /** absent where `npm test` has a short form already */
  readonly short?: readonly string[];
}

/** The short form runs one twenty-fourth of the files, and of the next commit the next one. */
const FILES_PARTS = 24;

function partOfThisCommit(): string {
  const { stdout } = spawnSync("git", ["rev-list", "--count", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  const commits = Number.parseInt(stdout ?? "", 10);
  return `${((Number.isNaN(commits) ? 0 : commits) % FILES_PARTS) + 1}/${FILES_PARTS}`;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const TESTS: readonly LongTest[] = [
  {
    name: "wide",
    what: "the costliest of all other test files",
    full: ["node", "test/run.ts", "wide"],
    short: ["node", "test/run.ts", "wide"],
  },
  {
    name: "files",
    what: "test files that take many seconds each",
    full: ["node", "test/run.ts", "long"],
    short: ["node", "test/run.ts", "--part", partOfThisCommit(), "long"],
  },
  {
    name: "campaigns",
    what: "fifty kills of daemons and services with faults between them, and 300 cuts of the log",
    full: ["node", "test/run.ts", "campaigns"],
  },
  {
    name: "simulation",
    what: "lives of the whole daemon on a virtual clock in worlds where everything goes wrong",
    full: ["npm", "run", "test:sim", "--", "--seeds", "20000"],
    short: ["npm", "run", "test:sim", "--", "--seeds", "76", "--from", "9"],
  },
  {
    name: "mutants",
    what: "known bugs put back, one at a time",
    full: ["node", "test/mutants/main.ts"],
    short: ["node", "test/mutants/main.ts", "--every", "30"],
  },
  {
    name: "kills",
    what: "kills of daemons and services at named and random instants",
    full: ["node", "test/e2e/kill/main.ts", "--kills", "400"],
  },
  {
    name: "treasury-kills",
    what: "kills of daemons that propose to the owners of a Safe, who sign, refuse, forget and execute old files",
    full: ["node", "test/e2e/kill/treasury-main.ts"],
  },
  {
    name: "service-kills",
    what: "kills of the service while wallets sell gasless through it",
    full: ["node", "test/e2e/kill/service-main.ts"],
  },
  {
    name: "contracts",
    what: "the contracts compiled from their source once more, and random games with them",
    full: ["node", "test/run.ts", "contracts"],
    short: ["node", "test/run.ts", "contracts"],
  },
  {
    name: "games",
    what: "eight times as many games with the contracts",
    full: ["npm", "run", "contracts:test"],
  },
  { name: "siege", what: "half an hour of random actions on the contracts", full: ["npm", "run", "contracts:siege"] },
];

/** What failed prints so many of its last lines once more, below everything that ran after it. */
const LAST_LINES = 100;

function run([command = "", ...args]: readonly string[]): Promise<{ code: number; last: string }> {
  const program = command === "node" ? process.execPath : command;
  const child = spawn(program, args, { cwd: ROOT, stdio: ["inherit", "pipe", "inherit"] });
  let printed: readonly string[] = [""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    process.stdout.write(text);
    printed = `${printed.join("\n")}${text}`.split("\n").slice(-LAST_LINES);
  });
  // What was started ends with this process; what a signal ends here ends itself there.
  const stop = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.once("SIGINT", stop).once("SIGTERM", stop);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve({ code: code ?? 1, last: printed.join("\n").trim() });
    });
  });
}

const unknown = positionals.filter((name) => !TESTS.some((test) => test.name === name));
if (unknown.length > 0) {
  throw new Error(`there is no long test ${unknown.join(", ")}; there are ${TESTS.map(({ name }) => name).join(", ")}`);
}

const failed: { readonly name: string; readonly last: string }[] = [];
const lines: string[] = [];
for (const { name, what, full, short } of TESTS) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const command = values.short ? short : full;
  if (command === undefined) continue;
  console.log(`\n=== ${name}: ${what}`);
  const startedMs = performance.now();
  const { code, last } = await run(command);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  if (code !== 0) failed.push({ name, last });
  lines.push(`${name.padEnd(14)} ${seconds.padStart(5)} s   ${code === 0 ? "passed" : `FAILED (${code})`}`);
}
for (const { name, last } of failed) console.log(`\n=== ${name} failed; its last lines:\n${last}`);
console.log(`\n${lines.join("\n")}`);
console.log(`\n${lines.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
