import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Mode } from "../../config/configuration.ts";
import { formatProblems } from "../../config/problem.ts";
import { openMarker } from "../daemon-database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { inShell } from "../in-shell.ts";
import {
  type Answers,
  KEYS,
  type KeyAnswer,
  pathIn,
  readWallet,
  WALLET_FILES,
  type WalletAnswer,
} from "../init/answers.ts";
import { layoutOf, MAIN_FILE, modeOf, tradedSymbols } from "../init/files.ts";
import { fromFlags, type Given, interview } from "../init/interview.ts";
import { type LineSource, processLines } from "../init/lines.ts";
import { refuseOtherMain, refuseStrategies } from "../init/other-configuration.ts";
import { type Texts, withOverlay } from "../init/overlay.ts";
import { planFiles } from "../init/plan-files.ts";
import { type Present, readPresent } from "../init/present.ts";
import { draftAnswers, NOBODY, networkOf, type Session, withDraft } from "../init/session.ts";
import { failWriting, refuseNoFolder, refuseUnwritable } from "../init/usable-folder.ts";
import { type Placed, type PlannedFile, recoverInit, writeAll } from "../init/write-all.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { PRIVATE_FILE_MODE, writeNewFile } from "../new-file.ts";
import { createCommandRuntime } from "../runtime.ts";
import type { Terminal } from "../terminal.ts";
import { configFlag } from "../typed.ts";
import { importWallet, newWallet } from "./wallet.ts";

export interface InitOptions extends Given {
  /** else the folder of SWAPD_CONFIG, or this one */
  readonly dir?: string | undefined;
  /** ask nothing: flags, what is there already, defaults */
  readonly yes?: boolean;
  /** ask no chain */
  readonly offline?: boolean;
}

const PASSWORD_BYTES = 24;

/**
 * `swapd init`: asks what a first configuration needs, judges each answer at once, and writes a main file, a policy and
 * one strategy, all or none of them. In a folder that has one it asks again, with what is there, and changes values alone.
 */
export async function init(options: InitOptions, terminal: Terminal, lines?: LineSource): Promise<void> {
  const folder = resolve(options.dir ?? folderOfEnvironment() ?? ".");
  refuseNoFolder(folder);
  refuseOtherMain(folder, options.dir, process.env);
  const recovered = recoverInit(folder);
  if (recovered !== undefined) announceRecovered(folder, recovered, terminal);
  const present = readPresent(folder, process.env);
  if (present === undefined) refuseStrategies(folder);
  const session: Session = {
    folder,
    layout: layoutOf(process.env),
    runtime: createCommandRuntime(process.env),
    isOffline: options.offline === true,
    present,
    answers: new Map(),
    secrets: new Map(),
    unsaid: new Set(),
    slotUsd: undefined,
  };
  const given = Object.fromEntries(
    KEYS.flatMap((key) => (options[key] === undefined ? [] : [[key, options[key]]])),
  ) as Given;
  if (options.yes === true) {
    await fromFlags(session, given, terminal);
    await write(session, terminal, () => Promise.resolve(true));
    return;
  }
  // Before somebody has answered everything.
  refuseUnwritable(folder);
  const source = lines ?? processLines();
  try {
    await interview(session, given, { lines: source, terminal });
    await write(session, terminal, async () => {
      const answer = await source.next("make these changes [yes]: ");
      return answer !== undefined && /^(?:y|yes|)$/i.test(answer.trim());
    });
  } finally {
    source.close();
  }
}

function folderOfEnvironment(): string | undefined {
  const file = process.env.SWAPD_CONFIG;
  return file === undefined || file === "" ? undefined : dirname(file);
}

async function write(session: Session, terminal: Terminal, agrees: () => Promise<boolean>): Promise<void> {
  const { folder, present } = session;
  const answers = draftAnswers(session, present?.answers ?? {});
  const wanted = { ...answers, ...Object.fromEntries(session.answers) } as Answers;
  if (present === undefined) await refuseBroken(session);
  const { files, changes } = await planFiles(session, wanted);
  if (present !== undefined) {
    if (changes.length === 0) {
      terminal.out(`${folder} has all of that already: nothing was changed`);
      return;
    }
    terminal.out(changes.join("\n"));
    if (!(await agrees())) throw new CommandFailure(EXIT.no, "nothing was changed");
  }
  refuseUnwritable(folder);
  const { address, placed } = await writeTo(session, { wanted, files }, terminal).catch(failWriting);
  if (present === undefined || isOtherWallet(session, present.answers.wallet)) beginMarker(folder);
  announce({ session, placed, answers: wanted, address }, terminal);
}

/** The folder, the wallet that was asked for, and then the files. */
async function writeTo(
  session: Session,
  { wanted, files }: { readonly wanted: Answers; readonly files: readonly PlannedFile[] },
  terminal: Terminal,
): Promise<{ readonly address: string | undefined; readonly placed: Placed }> {
  const { folder, present } = session;
  mkdirSync(folder, { recursive: true });
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  // A key is made for files alone that are in order with it, whichever account it is of.
  if (present !== undefined)
    await refuseBrokenEdits(folder, isMade(readWallet(wanted.wallet)) ? new Map([...texts, ...UNMADE]) : texts);
  const address = await makeWallet(session, wanted, terminal);
  // The account of a key that is imported may be in the files already.
  if (present !== undefined && address !== undefined) await refuseBrokenEdits(folder, texts);
  return { address, placed: writeAll(folder, files) };
}

function isOtherWallet({ answers }: Session, before: string | undefined): boolean {
  const wallet = answers.get("wallet");
  return wallet !== undefined && wallet !== before;
}

/** Nothing is written that `swapd check` would refuse. */
async function refuseBroken(session: Session): Promise<void> {
  await withDraft(session, {}, async (loaded) => {
    if (!loaded.ok) throw new CommandFailure(EXIT.no, `${formatProblems(loaded.problems)}\nnothing was written`);
  });
}

/** What stands for the files of a wallet that is not made yet. */
const UNMADE: Texts = new Map([
  [WALLET_FILES.keystore, JSON.stringify({ address: NOBODY.slice(2) })],
  [WALLET_FILES.password, ""],
]);

async function refuseBrokenEdits(folder: string, texts: Texts): Promise<void> {
  await withOverlay(folder, texts, async (scratch) => {
    const loaded = loadConfiguration(join(scratch, MAIN_FILE), process.env);
    if (loaded.ok) return;
    const problems = formatProblems(loaded.problems).replaceAll(`${scratch}/`, "");
    throw new CommandFailure(EXIT.no, `${problems}\nnothing was changed`);
  });
}

/** Whether init makes the keystore of a wallet. */
function isMade(wallet: WalletAnswer | undefined): wallet is KeyAnswer {
  return wallet?.kind === "import" || (wallet?.kind === "keystore" && wallet.isNew);
}

/** Makes the keystore that was asked for. @returns whose it is; undefined where none was made */
async function makeWallet({ folder }: Session, answers: Answers, terminal: Terminal): Promise<string | undefined> {
  const wallet = readWallet(answers.wallet);
  if (!isMade(wallet)) return undefined;
  const [keystore, passwordFile] = [join(folder, WALLET_FILES.keystore), join(folder, WALLET_FILES.password)];
  if (!existsSync(passwordFile)) {
    writeNewFile(passwordFile, `${randomBytes(PASSWORD_BYTES).toString("base64url")}\n`, PRIVATE_FILE_MODE);
  }
  let address = "";
  const hearing: Terminal = {
    ...terminal,
    out: (text) => {
      address = text;
    },
  };
  if (wallet.kind === "import")
    await importWallet({ keystore, passwordFile, keyFile: keyFileOf(folder, wallet.keyFile) }, hearing);
  else await newWallet({ keystore, passwordFile }, hearing);
  return address;
}

/** As it was typed, or from the configuration's folder. */
function keyFileOf(folder: string, file: string): string {
  return existsSync(pathIn(folder, file)) ? pathIn(folder, file) : resolve(file);
}

/**
 * A configuration without a database means that its wallet begins with a new one, once it trades for real; an existing
 * marker is kept.
 */
function beginMarker(folder: string): void {
  // On paper there is nothing to be lost: the marker is that of the database beside it.
  const loaded = loadConfiguration(join(folder, MAIN_FILE), process.env, { overrides: { mode: "dry-run" } });
  if (!loaded.ok || existsSync(loaded.configuration.database)) return;
  const marker = openMarker(loaded.configuration);
  for (const { address, paper } of loaded.configuration.wallets.values()) {
    if (paper === undefined && marker.read(address) === undefined) {
      marker.write(address, { state: undefined, baseline: undefined });
    }
  }
}

function announceRecovered(folder: string, { written, left }: Placed, terminal: Terminal): void {
  terminal.err(`an init that was interrupted in ${folder} is finished now: ${written.join(", ")}`);
  for (const path of left)
    terminal.err(`${path} was changed meanwhile and is left; what init had for it is ${path}.new`);
  beginMarker(folder);
}

function announce(
  done: { session: Session; placed: Placed; answers: Answers; address: string | undefined },
  terminal: Terminal,
): void {
  const { session, placed, answers, address } = done;
  const { folder, present } = session;
  terminal.out(`written to ${folder}: ${placed.written.join(", ")}`);
  for (const path of placed.left)
    terminal.out(`${path} was changed meanwhile and is left; what init had for it is ${path}.new`);
  const native = networkOf(session)?.nativeSymbol ?? "";
  if (address !== undefined) {
    const sold = session.answers.has("sell") ? `${tradedSymbols(answers)[0]} to sell` : "what its strategies sell";
    terminal.out(`wallet    ${address}: fund it with little: ${sold}, and ${native} for gas`);
  }
  const restart = present === undefined ? [] : [whenItApplies(present, placed)];
  terminal.out([...restart, ...nextSteps(session, answers)].join("\n"));
}

/** A daemon that runs takes no strategy over beside another policy or main file. */
function whenItApplies({ policyFile }: Present, { written }: Placed): string {
  if (!written.includes(MAIN_FILE) && !written.includes(policyFile))
    return "a daemon that runs takes another strategy over by itself, and the rest at its next start";
  return "a daemon that runs goes on as before until it is started again: nothing of this applies to it sooner, a strategy neither";
}

/** The commands that come next, from looking on to trading. */
function nextSteps(session: Session, { wallet }: Answers): readonly string[] {
  const { folder } = session;
  const file = join(folder, MAIN_FILE);
  // What a command means that names no file: SWAPD_CONFIG may be another one than that of this folder.
  const config = configFlag(file);
  const dir = resolve(folderOfEnvironment() ?? ".") === folder ? "" : ` --dir ${inShell(folder)}`;
  const { kind } = readWallet(wallet) ?? { kind: "watch" };
  const isKept = !session.answers.has("wallet");
  const hasKey = isKept || kind === "keystore" || kind === "import" || kind === "signer";
  const most = modeOf(networkOf(session));
  const mode = session.present?.configuration.mode ?? most;
  // Where it only decides and quotes, a key would be of no use, and nothing goes live.
  const isSigned = most !== "dry-run";
  const starts: Readonly<Record<Mode, string>> = {
    paper: "on paper: fills are simulated, and nothing is signed",
    "dry-run": "a dry run: it decides and quotes, and signs nothing",
    live: "it trades for real",
  };
  const lines = [
    [`swapd check${config}`, "everything at once, with file and line"],
    [`swapd plan${config}`, "what the next slots would do"],
    [`swapd start${config}`, starts[mode]],
    ...(hasKey || !isSigned
      ? []
      : [[`swapd init${dir} --yes --wallet new`, "a wallet with a key, once you trust what it shows"]]),
    ...(mode === "live" || !isSigned ? [] : [[`swapd live${config}`, "the same for real"]]),
  ];
  const width = Math.max(...lines.map(([command = ""]) => command.length));
  return lines.map(
    ([command = "", what], index) => `${(index === 0 ? "next" : "").padEnd(10)}${command.padEnd(width)}   ${what}`,
  );
}
