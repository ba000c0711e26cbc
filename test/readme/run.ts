import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type BareMachine, makeBareMachine } from "./bare-machine.ts";
import { CLAIMS, type Claim, type Visit } from "./claims.ts";
import { CONTRIBUTING_CLAIMS } from "./contributing-claims.ts";
import { OPERATIONS_CLAIMS } from "./operations-claims.ts";
import { createPerson, type Network, startNetwork } from "./person.ts";
import { type ReadmeCommand, readCommands, readSampleLines } from "./readme-commands.ts";
import { type Ended, endAll, leftovers, type Place, processesOf, type } from "./typed.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READERS = 2;
const LIMIT_SECONDS = 120;
const SHOWN_LINES = 40;

interface Page {
  readonly name: string;
  readonly claims: readonly Claim[];
  readonly readers: number;
}

/** In the order in which a reader types them. */
const PAGES: readonly Page[] = [
  { name: "README.md", claims: CLAIMS, readers: READERS },
  { name: "docs/OPERATIONS.md", claims: OPERATIONS_CLAIMS, readers: 1 },
  { name: "CONTRIBUTING.md", claims: CONTRIBUTING_CLAIMS, readers: 1 },
];

interface Row {
  readonly reader: number;
  readonly line: number;
  readonly command: string;
  readonly seconds: number;
  readonly result: string;
  readonly isBroken: boolean;
}

/** One reader's way through the README, with what has to be put away after him. */
interface Way {
  readonly reader: number;
  readonly place: Place;
  readonly visit: Visit;
  network: Network | undefined;
}

function startWay(machine: BareMachine, reader: number, samples: readonly string[]): Way {
  const place = { cwd: machine.clone, env: { ...machine.env } };
  const person = createPerson(machine);
  const connected = (): Network => {
    if (way.network === undefined) throw new Error("the README uses a network before it names its endpoints");
    return way.network;
  };
  const visit: Visit = {
    person,
    samples,
    type: (command, limitSeconds = LIMIT_SECONDS) => type(command, place, limitSeconds),
    connect: async () => {
      way.network ??= await startNetwork();
      Object.assign(place.env, { RPC_1: way.network.rpcUrl });
    },
    fund: () => person.fund(visit.seen.address, connected()),
    seen: { hashes: [], address: "" },
  };
  const way: Way = { reader, place, visit, network: undefined };
  return way;
}

async function tryCommand(
  machine: BareMachine,
  way: Way,
  given: { command: ReadmeCommand; claim: Claim },
): Promise<Row> {
  const { command, claim } = given;
  const row = { reader: way.reader, line: command.line, command: command.text };
  await claim.before?.(way.visit);
  const typed = await whatToType(way, claim);
  if (typed === undefined) return { ...row, seconds: 0, result: `not typed: ${claim.because ?? ""}`, isBroken: false };
  // The network goes on; whatever else runs now belongs to this command and has to end with it.
  const before = new Set(processesOf(machine.home).map(({ pid }) => pid));
  const ended = await way.visit.type(typed, claim.limitSeconds ?? LIMIT_SECONDS);
  const isAsked = typed !== claim.later;
  const broken = [
    ...(ended.code === 0 ? [] : [`exit code ${ended.code}`]),
    ...(ended.code === 0 && isAsked ? (claim.broken?.(ended, way.visit) ?? []) : []),
    ...(await leftovers(machine.home, before)).map((left) => `it leaves a process behind: ${left}`),
  ];
  if (broken.length > 0) showTail(typed, ended);
  const result =
    broken.length > 0 ? `BROKEN: ${broken.join("; ")}` : typed === claim.command ? "ok" : `ok, as ${typed}`;
  return { ...row, seconds: ended.seconds, result, isBroken: broken.length > 0 };
}

async function whatToType(way: Way, claim: Claim): Promise<string | undefined> {
  const isLater = way.reader > 1 || isShort || (claim.isTestRun === true && withoutTests);
  if (claim.later !== undefined && isLater) return claim.later;
  return claim.typed === undefined ? claim.command : await claim.typed(way.visit);
}

function showTail(typed: string, ended: Ended): void {
  console.log(`\n--- the end of what \`${typed}\` said`);
  console.log(ended.text.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n"));
  console.log("---\n");
}

/** Ends the network as a supervisor would, and looks at what the reader's way has left. */
async function endWay(machine: BareMachine, way: Way): Promise<Row[]> {
  const row = { reader: way.reader, line: 0, seconds: 0 };
  const judge = (command: string, found: readonly string[]): Row => ({
    ...row,
    command,
    result: found.length === 0 ? "ok" : `BROKEN: ${found.join("; ")}`,
    isBroken: found.length > 0,
  });
  await way.network?.stop();
  const status = await type("git status --porcelain", way.place, LIMIT_SECONDS);
  const changed = status.text.split("\n").filter((line) => line !== "");
  way.visit.person.startOver();
  return [
    judge("(nothing runs on)", await leftovers(machine.home, new Set())),
    judge("(git status is clean)", status.code === 0 ? changed : [`exit code ${status.code}`]),
  ];
}

/** Commands with what a page claims of them, and a row for each that lacks the other. */
function pairUp(
  { name, claims }: Page,
  commands: readonly ReadmeCommand[],
): { command: ReadmeCommand; claim: Claim }[] {
  const unclaimed = commands.filter(({ text }) => !claims.some(({ command }) => command === text));
  const unwritten = claims.filter(({ command }) => !commands.some(({ text }) => text === command));
  if (unclaimed.length > 0 || unwritten.length > 0) {
    const sentences = [
      ...unclaimed.map(({ line, text }) => `${name}:${line}: no claim says what \`${text}\` promises`),
      ...unwritten.map(({ command }) => `${name} has no \`${command}\`, of which there is a claim`),
    ];
    throw new Error(sentences.join("\n"));
  }
  return commands.flatMap((command) =>
    claims.filter((claim) => claim.command === command.text).map((claim) => ({ command, claim })),
  );
}

type Pair = ReturnType<typeof pairUp>[number];

async function skipped(way: Way, pairs: readonly Pair[]): Promise<readonly Pair[]> {
  const { from } = options;
  if (from === undefined) return pairs;
  const first = pairs.findIndex(({ command }) => command.text.includes(from));
  if (first === -1) throw new Error(`no command has ${JSON.stringify(from)} in it`);
  await way.visit.type("npm ci", LIMIT_SECONDS);
  return pairs.slice(first);
}

async function walk(machine: BareMachine, reader: number): Promise<Row[]> {
  const textOf = (page: Page) => readFileSync(join(machine.clone, page.name), "utf8");
  const way = startWay(
    machine,
    reader,
    pages.flatMap((page) => readSampleLines(textOf(page))),
  );
  const rows: Row[] = [];
  const report = (row: Row): void => {
    rows.push(row);
    console.log(format(row));
  };
  for (const page of pages.filter(({ readers }) => reader <= readers)) {
    console.log(`reader ${reader}: ${page.name}`);
    const pairs = pairUp(page, readCommands(textOf(page)));
    for (const pair of await skipped(way, pairs)) report(await tryCommand(machine, way, pair));
  }
  for (const row of await endWay(machine, way)) report(row);
  return rows;
}

function format({ reader, line, command, seconds, result }: Row): string {
  const place = line === 0 ? "" : `:${line}`;
  return `${String(reader).padStart(6)}  ${place.padEnd(5)}  ${seconds.toFixed(1).padStart(7)}  ${command.padEnd(50)}  ${result}`;
}

function cloneRepository(machine: BareMachine): string {
  const git = (args: readonly string[], cwd: string): string =>
    execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  git(["clone", "--quiet", "--no-hardlinks", ROOT, machine.clone], ROOT);
  if (git(["status", "--porcelain"], ROOT) !== "") console.log("Changes that are not committed are not tried.");
  return git(["log", "-1", "--format=%h %s"], machine.clone);
}

const { values: options } = parseArgs({
  options: {
    "without-tests": { type: "boolean", default: false },
    /** one reader, who types the short form of what takes long */
    short: { type: "boolean", default: false },
    /** begins, after an install, with the first command that has this in it */
    from: { type: "string" },
    page: { type: "string" },
  },
});
const isShort = options.short;
const withoutTests = options["without-tests"];
const pages = PAGES.filter(({ name }) => options.page === undefined || options.page === name);
if (pages.length === 0)
  throw new Error(`there is no page ${options.page}: ${PAGES.map(({ name }) => name).join(", ")}`);

const machine = makeBareMachine();
const putAway = (): void => {
  endAll(machine.home);
  machine.remove();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    putAway();
    process.exit(130);
  });
}
try {
  console.log(`${machine.versions}\n${cloneRepository(machine)}\n`);
  console.log(`reader  line   seconds  command`);
  const rows: Row[] = [];
  const readers = isShort ? 1 : Math.max(...pages.map((page) => page.readers));
  for (let reader = 1; reader <= readers; reader += 1) rows.push(...(await walk(machine, reader)));
  const broken = rows.filter(({ isBroken }) => isBroken);
  console.log(`\n${rows.length - broken.length} ok, ${broken.length} broken`);
  for (const row of broken) console.log(format(row));
  process.exitCode = broken.length === 0 ? 0 : 1;
} finally {
  putAway();
}
