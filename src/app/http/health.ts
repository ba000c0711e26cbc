import { SUBJECT } from "../../domain/run/alert.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Absence, Reach } from "../../engine/reach.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Progress, ReadModel } from "../../ports/read-model.ts";

/** What the daemon's health is read from. */
export interface HealthSources {
  /** as configured: `dry-run` or `live` */
  readonly mode: string;
  readonly clock: Clock;
  readonly engine: Pick<Engine, "tickAgeMs" | "waitingFor" | "clocks">;
  readonly node: Reach;
  readonly service: Reach;
  /** names of the wallets that a signer elsewhere signs for */
  readonly signers: readonly string[];
  readonly reads: Pick<ReadModel, "progress">;
  /** why no endpoint can do what trading needs, and what to change; undefined where one can */
  whyUnable(): string | undefined;
}

/** Whether the daemon does its own work, and in which mode. */
export interface Health {
  readonly healthy: boolean;
  readonly mode: string;
  readonly operating: OperatingModes;
  readonly tickAgeMs: number;
  /** what is wrong, in words */
  readonly problems: readonly string[];
}

/** Whether everything outside is there that trading needs, and the database agrees with it. */
export interface Readiness {
  readonly ready: boolean;
  readonly mode: string;
  readonly operating: OperatingModes;
  readonly node: Part;
  readonly service: Part;
  readonly clock: Part & { readonly skewMs: number | null };
  /** not ready while what it does not know of the chain halts anything */
  readonly database: Part;
  /** not ready while a signer elsewhere does not sign, with the names of the wallets that wait for one */
  readonly signer: Part & { readonly away: readonly string[] };
}

interface Part {
  readonly ready: boolean;
  readonly reason: string | null;
  /** ISO 8601 */
  readonly since: string | null;
}

/** The mode of everything, and how many strategies are in which stricter one. */
interface OperatingModes {
  readonly global: string;
  readonly strategies: Readonly<Record<string, number>>;
}

export interface HealthReader {
  health(): Promise<Health>;
  readiness(): Promise<Readiness>;
}

const LONGEST_TICK_AGE_MS = 10_000;
/** A run that nothing was signed of ends with its window; so long after it still has not, it is stuck. */
const RUN_MARGIN_MS = 300_000;
/** An effect waits for its turn and for a few answers that do not come. */
const EFFECT_BOUND_MS = 900_000;
/** Late by the wall clock, which may have jumped, it must stay late for so long by the monotonic one. */
const LATE_FOR_MS = 45_000;

/**
 * Opens the questions. Healthy is the daemon's own work: its beat, and that nothing stays undone beyond its bound. What is
 * outside (node, service, the clock's agreement with the chain) never makes it unhealthy, and is its readiness.
 */
export function createHealthReader(sources: HealthSources): HealthReader {
  const { clock, engine, node, service, mode } = sources;
  const late = { run: createLateness(clock), effect: createLateness(clock) };
  const readProgress = (): Promise<Progress> => {
    const nowMs = clock.nowMs();
    return sources.reads.progress({
      windowBeforeMs: nowMs - RUN_MARGIN_MS,
      dueBeforeMs: nowMs - EFFECT_BOUND_MS,
    });
  };
  const problemsNow = ({ overdueRun, overdueEffect }: Progress): string[] => {
    const problems: string[] = [];
    const tickAgeMs = engine.tickAgeMs();
    if (tickAgeMs >= LONGEST_TICK_AGE_MS)
      problems.push(`the scheduler has not checked its slots for ${formatDuration(tickAgeMs)}`);
    // What waits for something outside is late for a reason that is no fault of this process.
    const isClockWrong = engine.clocks.problem() !== undefined;
    const isHeldUp = isClockWrong || engine.waitingFor() !== undefined || node.holdsWorkUp() || service.holdsWorkUp();
    const run = late.run(isHeldUp ? undefined : overdueRun);
    if (run !== undefined) problems.push(`run ${run} has not ended, although its window is over`);
    const effect = late.effect(isHeldUp ? undefined : overdueEffect);
    if (effect !== undefined) problems.push(`effect ${effect} has been due for too long`);
    return problems;
  };
  return {
    health: async () => {
      const progress = await readProgress();
      const problems = problemsNow(progress);
      const tickAgeMs = Math.round(engine.tickAgeMs());
      return { healthy: problems.length === 0, mode, operating: operatingModes(progress), tickAgeMs, problems };
    },
    readiness: async () => {
      const progress = await readProgress();
      const absent = engine.waitingFor() ?? node.absence();
      const unable = absent === undefined ? sources.whyUnable() : undefined;
      const clocks = clockPart(engine);
      const parts = {
        node: unable === undefined ? partOf(absent) : { ready: false, reason: unable, since: null },
        service: partOf(service.absence()),
        clock: clocks,
        database: databasePart(progress),
        signer: signerPart(progress, sources.signers),
      };
      const ready = Object.values(parts).every((part) => part.ready);
      return { ready, mode, operating: operatingModes(progress), ...parts };
    },
  };
}

/** Gives an id back once it has been asked about for long enough, without another in between. */
function createLateness(clock: Clock): (id: string | undefined) => string | undefined {
  let seen: { readonly id: string; readonly sinceMs: number } | undefined;
  return (id) => {
    if (id === undefined) seen = undefined;
    else if (seen?.id !== id) seen = { id, sinceMs: clock.monotonicMs() };
    return seen !== undefined && clock.monotonicMs() - seen.sinceMs >= LATE_FOR_MS ? seen.id : undefined;
  };
}

function partOf(absence: Absence | undefined): Part {
  if (absence === undefined) return { ready: true, reason: null, since: null };
  return { ready: false, reason: absence.reason, since: new Date(absence.sinceMs).toISOString() };
}

function clockPart({ clocks }: Pick<Engine, "clocks">): Readiness["clock"] {
  const problem = clocks.problem();
  return { ready: problem === undefined, reason: problem ?? null, since: null, skewMs: clocks.skewMs() ?? null };
}

function databasePart({ openDifference: open }: Progress): Part {
  return partOf(open === undefined ? undefined : { reason: open.text, sinceMs: open.foundAtMs });
}

function signerPart({ signersAway }: Progress, wallets: readonly string[]): Readiness["signer"] {
  const subjects = new Map(wallets.map((wallet) => [SUBJECT.signer(wallet), wallet]));
  const found = signersAway.filter(({ subject }) => subjects.has(subject));
  const away = found.map(({ subject }) => subjects.get(subject) ?? subject);
  const [first] = found;
  return { ...partOf(first && { reason: first.text, sinceMs: first.sinceMs }), away };
}

function operatingModes({ modes: rows }: Progress): OperatingModes {
  const strategies: Record<string, number> = {};
  for (const { scope, mode } of rows) {
    if (scope !== "global") strategies[mode] = (strategies[mode] ?? 0) + 1;
  }
  return { global: rows.find(({ scope }) => scope === "global")?.mode ?? "active", strategies };
}
