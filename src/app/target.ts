import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import { hasTables } from "../adapters/sqlite/daemon/schema.ts";
import { besideOf } from "../config/build-paper.ts";
import type { Configuration } from "../config/configuration.ts";
import { namedDatabase } from "../config/named-database.ts";
import { formatProblems } from "../config/problem.ts";
import type { ReadModel } from "../ports/read-model.ts";
import { openDatabase } from "../storage/database.ts";
import { databaseAtWork, describeAtWork } from "./daemon-beside.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { loadConfiguration } from "./load-configuration.ts";
import { modeAtWork } from "./mode-at-work.ts";
import { assertReadable } from "./no-rights.ts";
import { REHEARSAL_DATABASE } from "./rehearsal-configuration.ts";
import { isSandboxRunning, readSandboxFacts, type SandboxFacts } from "./sandbox-facts.ts";

/**
 * What a command is about: a configured daemon, one whose files are broken now while it may go on under those of before,
 * or the last sandbox of this folder.
 */
export type Target =
  | { readonly kind: "configured"; readonly configuration: Configuration; readonly database: string }
  | { readonly kind: "broken"; readonly file: string; readonly problems: string; readonly database: string }
  | { readonly kind: "sandbox"; readonly facts: SandboxFacts & { directory: string }; readonly database: string };

const DEFAULT_FILE = "swapd.yaml";

/** What is asked for, of a command that only reads. */
export interface ReadOptions {
  readonly config?: string | undefined;
  /** what the last rehearsal of this folder did, and not the daemon itself */
  readonly rehearsal?: boolean | undefined;
}

/** The configuration file that was named: `--config`, else SWAPD_CONFIG; an empty variable names none. */
function namedFile(options: { config?: string | undefined }): string | undefined {
  const fromEnvironment = process.env.SWAPD_CONFIG;
  return options.config ?? (fromEnvironment === "" ? undefined : fromEnvironment);
}

/** The configuration file of a command that cannot do without one. */
export function configurationFile(options: { config?: string | undefined }): string {
  return namedFile(options) ?? DEFAULT_FILE;
}

/**
 * Finds the target: `--config`, else SWAPD_CONFIG, else swapd.yaml here, else the last sandbox of this folder.
 * @throws CommandFailure with what to do when there is none, or with all problems of a file that names no database either
 */
export function findTarget(options: { config?: string | undefined }): Target {
  const file = namedFile(options) ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined);
  if (file !== undefined) return readTarget(resolve(file));
  const facts = readSandboxFacts();
  if (facts !== undefined) return { kind: "sandbox", facts, database: facts.database };
  throw new CommandFailure(
    EXIT.usage,
    "no configuration: name one with --config FILE, put swapd.yaml here, or start the sandbox first with `swapd sandbox`",
  );
}

function readTarget(file: string): Target {
  const target = loadTarget(file);
  assertReadable(target.database);
  return target;
}

function loadTarget(file: string): Target {
  assertReadable(file);
  const loaded = loadConfiguration(file, process.env);
  if (loaded.ok) {
    const { configuration } = loaded;
    return { kind: "configured", configuration, database: configuration.database };
  }
  const problems = formatProblems(loaded.problems);
  const named = namedDatabase(file);
  const database = named === undefined ? undefined : [named, besideOf(named)].find(existsSync);
  if (database === undefined) throw new CommandFailure(EXIT.no, problems);
  // Which of its two databases a broken file means is a guess, and which of them a daemon runs on is none.
  return { kind: "broken", file, problems, database: databaseAtWork(database) ?? database };
}

/**
 * The same, or the last rehearsal of this folder: rows of the user's own strategies, live on a fork of his network.
 * @throws CommandFailure as {@link findTarget}, and where there was no rehearsal
 */
export function findTargetToRead(options: ReadOptions): Target {
  if (options.rehearsal !== true) return findTarget(options);
  const database = resolve(REHEARSAL_DATABASE);
  if (!existsSync(database))
    throw new CommandFailure(
      EXIT.no,
      `there was no rehearsal in this folder (no ${database}): start one with \`swapd sandbox --fork-url URL --config FILE\``,
    );
  const configuration = readConfiguration(configurationFile(options), EXIT.no);
  return { kind: "configured", configuration: { ...configuration, mode: "live", database }, database };
}

/** Options of a command that changes something: the sandbox is changed only on request, never by default. */
export interface ChangeOptions {
  readonly config?: string | undefined;
  readonly sandbox?: boolean | undefined;
}

/**
 * Finds what a command changes: `--config`, else SWAPD_CONFIG, else swapd.yaml here; with `--sandbox` the last sandbox
 * of this folder. It never guesses: a command meant for a real wallet must not halt a sandbox instead.
 * @throws CommandFailure when nothing, or two things, are named
 */
export function findTargetToChange(options: ChangeOptions): Target {
  if (options.sandbox !== true) {
    const file = namedFile(options) ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined);
    if (file !== undefined) return findTarget(options);
    throw new CommandFailure(
      EXIT.usage,
      "nothing was changed: name the configuration with --config FILE or SWAPD_CONFIG, or put swapd.yaml here; --sandbox means the one that `swapd sandbox` started in this folder",
    );
  }
  if (options.config !== undefined) {
    throw new CommandFailure(EXIT.usage, "--config and --sandbox are two places: nothing was changed, name one");
  }
  const facts = readSandboxFacts();
  if (facts !== undefined) return { kind: "sandbox", facts, database: facts.database };
  throw new CommandFailure(EXIT.usage, "there is no sandbox in this folder: start one with `swapd sandbox`");
}

/** What a command acted on, in one line. */
export function nameTarget(target: Target): string {
  if (target.kind === "sandbox") return `on the sandbox in ${target.facts.directory} (database ${target.database})`;
  if (target.kind === "broken")
    return `on ${target.file} (broken as it is now, see \`swapd check\`; database ${target.database})`;
  const { file, network } = target.configuration;
  return `on ${file} (network ${network.name}, mode ${modeAtWork(target.configuration)}, database ${target.database})`;
}

/** A change of the target: where it is refused, the answer says of what. */
export async function changing<T>(target: Target, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw new CommandFailure(error.exitCode, `${error.message}\n${nameTarget(target)}`);
  }
}

/** What the target's chain calls its own coin. */
export function nativeSymbolOf(target: Target): string {
  return target.kind === "sandbox" ? "ETH" : configurationOf(target).configuration.network.nativeSymbol;
}

/** The same behind an amount that people read, also where the files are broken: then nobody knows its name. */
export function nativeWordsOf(target: Target): string {
  return target.kind === "broken" ? "of the native coin" : nativeSymbolOf(target);
}

/** @throws CommandFailure that says what to do where the target is a sandbox that stopped: its chain is gone */
export function needsChain(target: Target): Target {
  if (target.kind !== "sandbox" || isSandboxRunning(target.facts.directory)) return target;
  const { directory } = target.facts;
  throw new CommandFailure(
    EXIT.no,
    `the sandbox in ${directory} has stopped, so no chain can be asked: start one with \`npx swapd sandbox\`; \`npx swapd history\`, \`status\`, \`why\` and \`audit\` still read the last one`,
  );
}

/**
 * The target's configuration with the environment that its references are looked up in.
 * @throws CommandFailure with all its problems where it is broken
 */
export function configurationOf(target: Target): { configuration: Configuration; env: NodeJS.ProcessEnv } {
  if (target.kind === "configured") return { configuration: target.configuration, env: process.env };
  if (target.kind === "broken") throw new CommandFailure(EXIT.no, target.problems);
  const { facts } = target;
  const env = { ...process.env, ...facts.environment };
  const preset = join(facts.directory, "network.json");
  const { mode } = facts;
  const database = mode === "paper" ? besideOf(facts.database) : facts.database;
  const loaded = loadConfiguration(facts.configuration, env, { overrides: { preset, mode, database } });
  if (loaded.ok) return { configuration: loaded.configuration, env };
  throw new CommandFailure(EXIT.no, formatProblems(loaded.problems));
}

/** Loads a configuration or fails with all its problems and the given exit code. */
export function readConfiguration(file: string, exitCode: number): Configuration {
  assertReadable(file);
  const loaded = loadConfiguration(resolve(file), process.env);
  if (loaded.ok) return loaded.configuration;
  throw new CommandFailure(exitCode, formatProblems(loaded.problems));
}

/** Runs work on what people read of the target, and closes it. */
export async function withReads<T>(target: Target, work: (reads: ReadModel) => Promise<T>): Promise<T> {
  if (!existsSync(target.database)) throw notRunYet(target);
  const db = openDatabase({ file: target.database, readonly: true });
  try {
    if (!hasTables(db)) {
      throw new CommandFailure(EXIT.no, `the database ${target.database} is empty: the daemon has not run yet`);
    }
    return await work(createReadModel(db));
  } finally {
    db.close();
  }
}

/** Why nothing can be read of a target without a database. */
export function notRunYet({ database }: Pick<Target, "database">): CommandFailure {
  const atWork = databaseAtWork(database);
  const beside = atWork === undefined ? "" : `; ${describeAtWork(atWork)}`;
  return new CommandFailure(EXIT.no, `there is no database at ${database}: the daemon has not run yet${beside}`);
}
