import { readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Configuration, LoadedStrategy } from "../config/configuration.ts";
import type { LoadOutcome } from "../config/load-configuration.ts";
import { formatProblems } from "../config/problem.ts";
import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import { type AlertDeps, raiseAlerts, tellAlerts } from "../engine/alerts.ts";
import type { Logger } from "../ports/logger.ts";

const SHORTEST_PAUSE_MS = 2_000;
/** Looking at a file costs a few microseconds: so many milliseconds a file keep it far below a hundredth of a core. */
const PAUSE_MS_PER_FILE = 2;

/** What the watch works with. `load` reads the same files again, with the same options. */
export interface WatchDeps extends AlertDeps {
  readonly logger: Logger;
  load(): LoadOutcome;
  adopt(strategies: readonly LoadedStrategy[]): void;
}

/**
 * Watches the files of a running daemon. Edited strategies apply from their next slot. A bad edit changes nothing and is
 * said loudly, until it is mended. What else was edited needs a new start, so that nobody loosens a ceiling while money
 * moves. A file is read once it has kept still for a whole look.
 * @param shortestPauseMs between two looks; longer where there are thousands of files
 * @returns how to stop
 */
export function watchFiles(
  started: Configuration,
  deps: WatchDeps,
  shortestPauseMs: number = SHORTEST_PAUSE_MS,
): () => void {
  // What was wrong with the files of an earlier life is over: these ones are in force.
  allIsWell(deps);
  let current = started;
  let read = stateOf(started);
  let seen = read;
  const look = (): void => {
    const now = stateOf(current);
    const isStill = now.text === seen.text;
    seen = now;
    if (isStill && now.text !== read.text) {
      read = now;
      current = takeOver(current, deps) ?? current;
    }
    timer = setTimeout(look, pauseFor(now.files, shortestPauseMs));
  };
  let timer = setTimeout(look, pauseFor(read.files, shortestPauseMs));
  return () => clearTimeout(timer);
}

function pauseFor(files: number, shortestMs: number): number {
  return Math.max(shortestMs, files * PAUSE_MS_PER_FILE);
}

/** Names, sizes and times of all files, as one text that changes with any of them. */
function stateOf(configuration: Configuration): { text: string; files: number } {
  const { origin } = configuration;
  const files = [...origin.files, ...(origin.strategies === undefined ? [] : filesIn(origin.strategies))];
  return { text: files.map(describe).join("\n"), files: files.length };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => `${folder}/${name}`);
  } catch {
    return [folder];
  }
}

/** A file that cannot be looked at is a bad edit for the load to name, and no reason for a running daemon to die. */
function describe(file: string): string {
  try {
    const { size, mtimeMs } = statSync(file);
    return `${file} ${size} ${mtimeMs}`;
  } catch (error) {
    return `${file} cannot be looked at: ${String(error)}`;
  }
}

/** @returns the configuration that is in force now, undefined when nothing changed */
function takeOver(current: Configuration, deps: WatchDeps): Configuration | undefined {
  const { logger } = deps;
  const loaded = deps.load();
  if (!loaded.ok) {
    const text = `the edited files are refused, the configuration before them stays in force:\n${formatProblems(loaded.problems)}`;
    logger.error({ problems: loaded.problems.length }, text);
    tell(deps, { severity: "warning", code: "CONFIGURATION_REFUSED", subject: SUBJECT.configuration(), text });
    return undefined;
  }
  const { configuration } = loaded;
  allIsWell(deps);
  if (configuration.hash === current.hash) return undefined;
  if (configuration.settingsHash !== current.settingsHash) {
    const text = `${dirname(configuration.file)}: more than strategies was edited; nothing of it applies before the next start`;
    logger.warn({}, text);
    tell(deps, { severity: "warning", code: "RESTART_NEEDED", subject: SUBJECT.configuration(), text });
    return undefined;
  }
  deps.adopt(configuration.strategies);
  if (configuration.strategies.length === 0 && current.strategies.length > 0) {
    // A person may want that; a folder that was unmounted looks the same, and takes every stop away.
    const text = `${configuration.origin.strategies ?? dirname(configuration.file)}: no strategy is left, so no run starts; put the files back, or pause strategies instead of removing all`;
    logger.warn({}, text);
    tell(deps, { severity: "warning", code: "NO_STRATEGIES_LEFT", subject: SUBJECT.configuration(), text });
  }
  const ids = configuration.strategies.map(({ spec }) => spec.id);
  logger.info({ strategies: ids.length }, "edited strategies were taken over; each applies from its next slot");
  return configuration;
}

function allIsWell({ store, clock }: WatchDeps): void {
  store.transaction(() => store.endAlerts(SUBJECT.configuration(), clock.nowMs()));
}

function tell(deps: WatchDeps, alert: Alert): void {
  tellAlerts(
    deps,
    deps.store.transaction(() => raiseAlerts(deps, [alert])),
  );
}
