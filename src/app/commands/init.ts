import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { formatProblems } from "../../config/problem.ts";
import { NETWORKS } from "../../networks/book.ts";
import { openMarker } from "../daemon-database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { type InitAnswers, initFiles, RPC_VARIABLE, strategyId } from "../init-files.ts";
import { loadConfiguration } from "../load-configuration.ts";
import type { Terminal } from "../terminal.ts";
import { newWallet } from "./wallet.ts";

export interface InitOptions extends Partial<InitAnswers> {
  readonly dir: string;
  /** take the defaults for what no flag says, and ask nothing */
  readonly yes?: boolean;
  /** make the keystore and its password where there is none */
  readonly newWallet?: boolean;
}

const PASSWORD_BYTES = 24;
const PRIVATE_FILE_MODE = 0o600;

/**
 * `swapd init`: asks a few questions and writes a main file, a policy and one strategy, with comments. Nothing that
 * exists is overwritten, and nothing is written that `swapd check` would refuse.
 */
export async function init(options: InitOptions, terminal: Terminal): Promise<void> {
  const folder = resolve(options.dir);
  const ask = await asker(options, terminal);
  try {
    const answers = await collect(options, ask.question);
    const files = initFiles(answers);
    refuseExisting(folder, [...files.keys()]);
    await makeWallet(
      { folder, answers, wanted: options.newWallet === true || (await ask.wantsWallet(folder, answers)) },
      terminal,
    );
    refuseBroken(folder, { answers, files });
    for (const [path, text] of files) write(join(folder, path), text);
    beginMarker(folder);
    announce({ folder, files: [...files.keys()], answers }, terminal);
  } finally {
    ask.close();
  }
}

interface Asker {
  question(what: string, fallback: string): Promise<string>;
  wantsWallet(folder: string, answers: InitAnswers): Promise<boolean>;
  close(): void;
}

/** Questions at a terminal without --yes; else the defaults. */
async function asker(options: InitOptions, terminal: Terminal): Promise<Asker> {
  if (options.yes === true || !terminal.isInteractive || process.stdin.isTTY !== true) {
    return {
      question: (_what, fallback) => Promise.resolve(fallback),
      wantsWallet: () => Promise.resolve(false),
      close: () => undefined,
    };
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const question = async (what: string, fallback: string): Promise<string> => {
    const answer = (await lines.question(`${what} [${fallback}]: `)).trim();
    return answer === "" ? fallback : answer;
  };
  return {
    question,
    wantsWallet: async (folder, answers) => {
      if (existsSync(pathIn(folder, answers.keystore))) return false;
      return (await question("there is no such keystore; make a new wallet", "yes")).toLowerCase().startsWith("y");
    },
    close: () => lines.close(),
  };
}

async function collect(options: InitOptions, question: Asker["question"]): Promise<InitAnswers> {
  const networks = [...NETWORKS.keys()];
  const network = options.network ?? (await question(`network (${networks.join(", ")})`, "base"));
  // What no feed prices is not traded, so it is not proposed.
  const tokens = [...(NETWORKS.get(network)?.tokens ?? [])]
    .filter(([, { feed }]) => feed !== undefined)
    .map(([symbol]) => symbol);
  const [wrapped] = tokens;
  if (wrapped === undefined) {
    throw new CommandFailure(EXIT.usage, `the network "${network}" is not built in; there are ${networks.join(", ")}`);
  }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    network,
    sell: options.sell ?? (await question(`sell how much of what at each slot (${tokens.join(", ")})`, "100 USDC")),
    buy: options.buy ?? (await question("buy what", wrapped)),
    at: options.at ?? (await question("when, by the wall clock (daily 09:00, Mon 09:00, Mon,Thu 18:30)", "Mon 09:00")),
    timezone: options.timezone ?? (await question("time zone", zone)),
    maxPerDay: options.maxPerDay ?? (await question("sell at most in a day", "500 USD")),
    keystore: options.keystore ?? (await question("the wallet's encrypted keystore", "wallet.json")),
    passwordFile: options.passwordFile ?? (await question("the file with its password", "wallet.pass")),
  };
}

function refuseExisting(folder: string, paths: readonly string[]): void {
  const existing = paths.filter((path) => existsSync(join(folder, path)));
  if (existing.length === 0) return;
  const which = existing.join(", ");
  throw new CommandFailure(
    EXIT.no,
    `${which} exist in ${folder} and are left as they are; name another folder with --dir`,
  );
}

async function makeWallet(
  wanted: { folder: string; answers: InitAnswers; wanted: boolean },
  terminal: Terminal,
): Promise<void> {
  const { folder, answers } = wanted;
  const keystore = pathIn(folder, answers.keystore);
  if (existsSync(keystore)) return;
  if (!wanted.wanted) {
    const how = "give --keystore and --password-file of one that exists, or --new-wallet";
    throw new CommandFailure(EXIT.usage, `there is no keystore at ${keystore}: ${how}`);
  }
  const passwordFile = pathIn(folder, answers.passwordFile);
  if (!existsSync(passwordFile))
    write(passwordFile, `${randomBytes(PASSWORD_BYTES).toString("base64url")}\n`, PRIVATE_FILE_MODE);
  terminal.out(`a new wallet, encrypted in ${keystore}; its address:`);
  await newWallet({ keystore, passwordFile }, terminal);
}

/** A first configuration means that its wallet begins with a new database; an existing marker is kept. */
function beginMarker(folder: string): void {
  const loaded = loadConfiguration(join(folder, "swapd.yaml"), process.env);
  if (!loaded.ok) return;
  const marker = openMarker(loaded.configuration);
  for (const { address } of loaded.configuration.wallets.values()) {
    if (marker.read(address) === undefined) marker.write(address, { state: undefined, baseline: undefined });
  }
}

/** Checks the files against the loader before any of them is written. */
function refuseBroken(folder: string, made: { answers: InitAnswers; files: ReadonlyMap<string, string> }): void {
  const scratch = mkdtempSync(join(tmpdir(), "swapd-init-"));
  try {
    const { keystore, passwordFile } = made.answers;
    const absolute = { keystore: pathIn(folder, keystore), passwordFile: pathIn(folder, passwordFile) };
    for (const [path, text] of initFiles({ ...made.answers, ...absolute })) write(join(scratch, path), text);
    const loaded = loadConfiguration(join(scratch, "swapd.yaml"), process.env);
    if (!loaded.ok) throw new CommandFailure(EXIT.no, formatProblems(loaded.problems).replaceAll(`${scratch}/`, ""));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function announce(done: { folder: string; files: readonly string[]; answers: InitAnswers }, terminal: Terminal): void {
  const { folder, files, answers } = done;
  terminal.out(`written to ${folder}: ${files.join(", ")}`);
  terminal.out(`next      export ${RPC_VARIABLE}=<the URL of a node of ${answers.network}>`);
  terminal.out("          swapd check     everything at once, with file and line");
  terminal.out("          swapd plan      what the next slots would do");
  terminal.out(`          swapd start     a dry run: it decides and quotes, and signs nothing`);
  terminal.out("edit      swapd.yaml: service.settlement must name the settlement contract before anything is quoted");
  terminal.out(`          policy.yaml for your ceilings, strategies/${strategyId(answers)}.yaml for the strategy`);
}

function pathIn(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

function write(file: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true });
  // Never over a file that is there.
  writeFileSync(file, text, { flag: "wx", mode });
}
