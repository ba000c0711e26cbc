import { readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Configuration, LoadedStrategy } from "../config/configuration.ts";
import type { LoadOutcome } from "../config/load-configuration.ts";
import { formatProblems } from "../config/problem.ts";
import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import { type AlertDeps, raiseChange, writeAndNotify } from "../engine/alerts.ts";
import type { Logger } from "../ports/logger.ts";

const SHORTEST_PAUSE_MS = 2_000;
/** Looking at a file costs a few microseconds: so many milliseconds a file keep it far below a hundredth of a core. */
const PAUSE_MS_PER_FILE = 2;

/**
 * Names, sizes and times of all files, as one text that changes with any of them. What brings files into place may give
 * all of them one time, and an edited amount has as many letters as before: which file it is, and when the system says
 * that it changed, counts too.
 */
export interface FilesState {
  readonly text: string;
  readonly files: number;
}

/** What the watch works with. `load` reads the same files again, with the same options. */
export interface WatchDeps extends AlertDeps {
  readonly logger: Logger;
  /** the files when what it starts with was read from them: a start takes seconds, in which they may be edited */
  readonly asRead: FilesState;
  load(): LoadOutcome | Promise<LoadOutcome>;
  adopt(strategies: readonly LoadedStrategy[]): Promise<void>;
}

/**
 * Watches the files of a running daemon. Edited strategies apply from their next slot. A bad edit changes nothing and
 * is reported, until it is corrected. Other edits need a new start, so that no ceiling is loosened while money moves. A
 * file is read once it has not changed between two checks.
 * @param shortestPauseMs between two checks; longer where there are thousands of files
 * @returns how to stop, which waits for what is being written of an edit: rows are closed after it
 */
export async function watchFiles(
  started: Configuration,
  deps: WatchDeps,
  shortestPauseMs: number = SHORTEST_PAUSE_MS,
): Promise<() => Promise<void>> {
  const say = await createSay(deps, noneLeft(started));
  let current = started;
  let read = deps.asRead;
  let seen = stateOf(started);
  let isStopped = false;
  let writing: Promise<void> = Promise.resolve();
  const adoptAndSay = async (loaded: LoadOutcome): Promise<void> => {
    const { inForce, alert } = await takeOver(current, loaded, deps);
    current = inForce;
    await say(alert);
  };
  const takeOverEdits = async (edited: FilesState): Promise<void> => {
    const loaded = await deps.load();
    const after = await readFiles(current);
    // What changed while it was read may be half of an edit: it is read again once it keeps still.
    if (isStopped || after.text !== edited.text) return;
    read = edited;
    writing = adoptAndSay(loaded);
    await writing;
  };
  const poll = async (): Promise<void> => {
    const now = await readFiles(current);
    const isStill = now.text === seen.text;
    seen = now;
    if (isStill && now.text !== read.text) await takeOverEdits(now);
    if (!isStopped) timer = setTimeout(poll, pauseFor(now.files, shortestPauseMs));
  };
  let timer = setTimeout(poll, pauseFor(seen.files, shortestPauseMs));
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    // What went wrong with it is heard where it was begun.
    await Promise.allSettled([writing]);
  };
}

function pauseFor(files: number, shortestMs: number): number {
  return Math.max(shortestMs, files * PAUSE_MS_PER_FILE);
}

/** The files of a configuration as they are now. */
export function stateOf(configuration: Configuration): FilesState {
  const files = filesOf(configuration);
  return { text: files.map(describe).join("\n"), files: files.length };
}

/** So many files are checked before something else has its turn. */
const FILES_IN_A_SLICE = 500;

/** The same for a daemon at work. */
async function readFiles(configuration: Configuration): Promise<FilesState> {
  const files = filesOf(configuration);
  const lines: string[] = [];
  for (let start = 0; start < files.length; start += FILES_IN_A_SLICE) {
    lines.push(...files.slice(start, start + FILES_IN_A_SLICE).map(describe));
    await setImmediate();
  }
  return { text: lines.join("\n"), files: files.length };
}

function filesOf({ origin }: Configuration): readonly string[] {
  return [...origin.files, ...(origin.strategies === undefined ? [] : filesIn(origin.strategies))];
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => `${folder}/${name}`);
  } catch {
    return [folder];
  }
}

/** A file that cannot be read is a bad edit, which the load reports, and no reason for a running daemon to stop. */
function describe(file: string): string {
  try {
    const { size, mtimeMs, ctimeMs, ino } = statSync(file);
    return `${file} ${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  } catch (error) {
    return `${file} cannot be read: ${String(error)}`;
  }
}

/**
 * What came of an edit: the configuration that is in force now, and what a person should know about the files as they
 * are.
 */
interface Taken {
  readonly inForce: Configuration;
  readonly alert: FilesAlert | undefined;
}

type FilesAlert = Pick<Alert, "code" | "text">;

async function takeOver(current: Configuration, loaded: LoadOutcome, deps: WatchDeps): Promise<Taken> {
  const { logger } = deps;
  if (!loaded.ok) {
    const text = `the edited files are refused, the configuration before them stays in force:\n${formatProblems(loaded.problems)}`;
    logger.error({ problems: loaded.problems.length }, text);
    return { inForce: current, alert: { code: "CONFIGURATION_REFUSED", text } };
  }
  const { configuration } = loaded;
  if (configuration.settingsHash !== current.settingsHash || accountsOf(configuration) !== accountsOf(current)) {
    const text = `${dirname(configuration.file)}: more than strategies was edited; nothing of it applies before the next start, edits of strategies neither: those of before go on`;
    logger.warn({}, text);
    return { inForce: current, alert: { code: "RESTART_NEEDED", text } };
  }
  const alert = noneLeft(configuration);
  if (configuration.hash === current.hash) return { inForce: current, alert };
  await deps.adopt(configuration.strategies);
  if (alert !== undefined) logger.warn({}, alert.text);
  const ids = configuration.strategies.map(({ spec }) => spec.id);
  logger.info({ strategies: ids.length }, "edited strategies were taken over; each applies from its next slot");
  return { inForce: configuration, alert };
}

/** A keystore is none of the files that are compared: the key of another one is not read until the next start. */
function accountsOf({ wallets }: Configuration): string {
  return [...wallets.values()].map(({ name, address }) => `${name} ${address}`).join();
}

/** It may be intended; but an unmounted folder looks the same, and takes every stop away. */
function noneLeft({ strategies, origin, file }: Configuration): FilesAlert | undefined {
  if (strategies.length > 0) return undefined;
  const text = `${origin.strategies ?? dirname(file)}: no strategy is left, so no run starts; put the files back, or pause strategies instead of removing all`;
  return { code: "NO_STRATEGIES_LEFT", text };
}

/**
 * Reports what is true of the files, once for as long as it is, and keeps what is said of it true. What was wrong with
 * those of an earlier life is over.
 * @param first what is true of those that it starts with; reported unless an earlier life did
 */
async function createSay(
  deps: AlertDeps,
  first: FilesAlert | undefined,
): Promise<(alert: FilesAlert | undefined) => Promise<void>> {
  const subjects = [SUBJECT.configuration(), SUBJECT.strategies()];
  const sayNow = async (alert: FilesAlert | undefined, over: readonly string[]): Promise<void> => {
    const ended = over.map((subject) => ({ kind: "alerts-over", subject }) as const);
    if (alert === undefined) return await writeAndNotify(deps, ended);
    const raised = raiseChange(deps, { severity: "warning", subject: subjectOf(alert), ...alert });
    await writeAndNotify(deps, [...ended, raised]);
  };
  await sayNow(first, first === undefined ? subjects : subjects.filter((subject) => subject !== subjectOf(first)));
  let said = first;
  return async (alert) => {
    const before = said;
    said = alert;
    if (alert?.code !== before?.code) return await sayNow(alert, subjects);
    if (alert === undefined || alert.text === before?.text) return;
    // Who edits is notified once, and finds what is wrong by now where he looks.
    await writeAndNotify(deps, [{ kind: "alert-reworded", alert: { subject: subjectOf(alert), ...alert } }]);
  };
}

function subjectOf({ code }: FilesAlert): string {
  return code === "NO_STRATEGIES_LEFT" ? SUBJECT.strategies() : SUBJECT.configuration();
}
