import { resolve } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { DEFAULTS } from "../../config/defaults.ts";
import { CommandFailure } from "../exit-codes.ts";
import { type HeldStart, holdStart } from "../hold-start.ts";
import { type LifeEnd, runOnce } from "../run-once.ts";
import type { StartTrouble } from "../start-trouble.ts";
import { stopOnSignals } from "../stop-signals.ts";
import { configurationFile } from "../target.ts";
import type { Terminal } from "../terminal.ts";

export interface StartOptions {
  readonly config?: string;
  readonly for?: number;
  /** stays up, not well, where only a change of a file helps, and goes on when one is changed */
  readonly wait?: boolean;
}

/** A used port is tried again for so long. */
const PORT_FOR_MS = 60_000;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
/** What a person must change is checked again so often, even when no file has changed: a mount may have appeared. */
const CHECK_AGAIN_MS = 60_000;

/**
 * `swapd start`: runs the daemon until it is stopped. What may pass by itself is waited for, a used port for a minute;
 * what only a person can change ends with 78, or with `--wait` stays up, not well, until a file is another.
 */
export async function start(options: StartOptions, terminal: Terminal): Promise<void> {
  const file = resolve(configurationFile(options));
  const stop = stopOnSignals(options.for);
  const stopping = new AbortController();
  void stop.asked.then(() => stopping.abort());
  const patience = createPatience(options.wait === true);
  const reported = new Set<string>();
  try {
    while (!stopping.signal.aborted) {
      const life = await runOnce(file, terminal, stop.asked);
      const { trouble } = life;
      if (trouble === undefined || stopping.signal.aborted) return;
      const waitMs = patience.after(trouble);
      if (waitMs === undefined) throw new CommandFailure(trouble.exitCode, trouble.message);
      if (!reported.has(trouble.message)) terminal.err(`${trouble.message}\n${whatNext(trouble)}`);
      reported.clear();
      reported.add(trouble.message);
      await holdStart(held(life, trouble, waitMs), systemClock, stopping.signal);
    }
  } finally {
    stop.done();
  }
}

/** How long a start is put off after each trouble; undefined: no longer. */
function createPatience(waitsForPeople: boolean): { after(trouble: StartTrouble): number | undefined } {
  let portSinceMs: number | undefined;
  let pauseMs = SHORTEST_PAUSE_MS;
  return {
    after: ({ kind }) => {
      const nowMs = systemClock.monotonicMs();
      portSinceMs = kind === "port" ? (portSinceMs ?? nowMs) : undefined;
      if (kind === "person") return waitsForPeople ? CHECK_AGAIN_MS : undefined;
      if (kind === "elsewhere" || kind === "ours") return undefined;
      if (portSinceMs !== undefined && nowMs - portSinceMs >= PORT_FOR_MS) return undefined;
      const waitMs = pauseMs;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      return waitMs;
    },
  };
}

function whatNext({ kind }: StartTrouble): string {
  if (kind === "person")
    return "change that; the daemon waits, and reads its files again when they change; what its environment lacks needs a new start";
  if (kind === "port") return `the start is tried again for ${PORT_FOR_MS / 1_000} s`;
  return "the start is tried again until it works";
}

function held(life: LifeEnd, trouble: StartTrouble, longestMs: number): HeldStart {
  return {
    problem: trouble.message,
    listen: trouble.kind === "port" ? undefined : listenOf(life),
    files: trouble.kind === "person" ? life.files : [],
    longestMs,
  };
}

/** Where health is served: as configured; with an unreadable configuration, where the image's health check asks. */
function listenOf({ configuration }: LifeEnd): HeldStart["listen"] {
  if (configuration !== undefined) return configuration.listen.port === 0 ? undefined : configuration.listen;
  const url = process.env.SWAPD_HEALTH_URL;
  if (url === undefined || !URL.canParse(url)) return DEFAULTS.listen;
  return { host: DEFAULTS.listen.host, port: Number(new URL(url).port) || DEFAULTS.listen.port };
}
