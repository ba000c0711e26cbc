import type { BlockHead } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import { tellAlerts } from "./alerts.ts";
import { createBeat } from "./beat.ts";
import { createBeginning } from "./beginning.ts";
import { createClockJumps } from "./clock-jumps.ts";
import { type ClockWatch, createClockWatch } from "./clock-watch.ts";
import { type Committer, createCommitter } from "./commit.ts";
import { createDowntimeWatch } from "./downtime.ts";
import { keepWatchingDrawdown } from "./drawdown.ts";
import { createEditions } from "./editions.ts";
import { createEffectRunner, type EffectRunner } from "./effect-runner.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { revokeLeftovers } from "./janitor.ts";
import { createLaneLoops } from "./lane-loops.ts";
import { startMessage } from "./messages.ts";
import { createOutsideWatch } from "./outside-watch.ts";
import { keepSampling } from "./price-sampler.ts";
import type { Absence } from "./reach.ts";
import { createReconciler, type Reconciler } from "./reconcile/reconciler.ts";
import { createSlotTurn } from "./slot-turn.ts";
import { createWaker, type Waker } from "./waker.ts";

/** The running daemon core. */
export interface Engine {
  /**
   * Looks at the chain, then works until stopped. Start-up is recovery: what is written down and not done is done.
   * Resolves after the first look; while the node does not answer, further looks follow and the work begins after the
   * first that is answered. A person's mistake that is found then is fatal.
   * @throws PreflightError when the first look shows one
   */
  start(): Promise<void>;
  /** Once a second: slots that are due become runs, requests of operators are taken. */
  tick(): void;
  /** Finishes what is being done and stops. What is written down waits for the next start. */
  stop(): Promise<void>;
  readonly committer: Committer;
  /** Takes over edited strategies, each from its next slot. */
  adopt(strategies: readonly LoadedStrategy[]): void;
  /** Milliseconds since the last tick, or the start, was over: by the monotonic clock. */
  tickAgeMs(): number;
  /** how this machine's clock and the chain's agree */
  readonly clocks: Pick<ClockWatch, "skewMs" | "problem">;
  /** what is waited for before the work begins; undefined once it began */
  waitingFor(): Absence | undefined;
}

const DUE_BATCH = 500;
/** The first slots wait so long for the look that lets them begin. */
const LOOK_WITHIN_MS = 5_000;

/** Makes an engine. `onFatal` hears of broken invariants: the process must stop, and the next start recovers. */
export function createEngine(start: EngineContext, onFatal: (error: unknown) => void): Engine {
  const { deps, settings } = start;
  const waker = createWaker(deps.clock);
  const downtime = createDowntimeWatch(start);
  const clocks = createClockWatch(start);
  const editions = createEditions(start, downtime.heard);
  const { context } = editions;
  const laneLoops = createLaneLoops(context);
  const committer = createCommitter(context, (wallets) => {
    laneLoops.wake(wallets);
    waker.wake();
  });
  const beginning = createBeginning(start);
  const slots = createSlotTurn(editions, { clocks, downtime, waitingFor: beginning.waitingFor });
  const loops: Promise<void>[] = [];
  const stopping = new AbortController();
  const jumps = createClockJumps(deps);
  const outside = createOutsideWatch(start, { beginning, clocks });
  const guarded = (work: () => Promise<void>): Promise<void> => work().catch(onFatal);
  const { signal } = stopping;
  const guardedHere = (work: () => void): void => guardedNow(onFatal, work);
  const beat = createBeat(deps.clock, { slots, wake: waker.wake, guarded: guardedHere, signal });
  const reconciler = createReconciler(context);
  const effects = createEffectRunner(context, committer, { clocks, guarded, hear: outside.hear, onDone: waker.wake });
  const effectLoop = (): Promise<void> => keepPerforming(start, { clocks, committer, effects, waker }, signal);
  const begin = async (head: BlockHead): Promise<void> => {
    // Before anything may be signed, and before the first slot: the rows are held against the chain.
    reconciler.begin();
    clocks.observe(head);
    downtime.started();
    slots.settle();
    loops.push(guarded(reconciler.look));
    await within(deps.clock, loops.at(-1), signal);
    if (signal.aborted) return;
    const watches = watchesOf(context, { clocks, reconciler }, signal);
    loops.push(...[effectLoop, ...watches, ...laneLoops.start(signal)].map(guarded));
  };
  const waitAndBegin = async (): Promise<void> => {
    const head = await beginning.keepTrying(signal);
    if (head !== undefined) await begin(head);
  };
  return {
    committer,
    start: async () => {
      recordStart(start);
      slots.adopt(settings.strategies);
      loops.push(guarded(() => outside.keepLooking(signal)));
      const head = await beginning.attempt();
      if (head !== undefined) return await begin(head);
      loops.push(guarded(waitAndBegin));
    },
    tick: () => {
      guardedHere(jumps.check);
      beat.tick();
    },
    stop: async () => {
      stopping.abort();
      waker.wake();
      await Promise.all(loops);
      await effects.idle();
      // A daemon that only waited was not at work: its time belongs to the downtime.
      if (beginning.waitingFor() === undefined) downtime.stopped();
      deps.store.addDaemonEvent("stopped", "by request", deps.clock.nowMs());
    },
    adopt: (strategies) => guardedHere(() => slots.adopt(strategies)),
    tickAgeMs: beat.ageMs,
    clocks,
    waitingFor: beginning.waitingFor,
  };
}

/** Writes the start down, with its message where one is wanted. */
function recordStart(context: EngineContext): void {
  const { deps, settings } = context;
  const told = deps.store.transaction(() => {
    deps.store.addDaemonEvent("started", settings.live ? "live" : "dry-run", deps.clock.nowMs());
    return startMessage(context);
  });
  tellAlerts(deps, told);
}

/** Begins runs that are due and performs effects that are due, until stopped. Runs begin by a clock that can be believed. */
async function keepPerforming(
  context: EngineContext,
  {
    clocks,
    committer,
    effects,
    waker,
  }: { clocks: ClockWatch; committer: Committer; effects: EffectRunner; waker: Waker },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const due = clocks.problem() === undefined ? context.deps.store.dueRuns(DUE_BATCH) : [];
    for (const runId of due) await committer.commit({ runId, event: { kind: "started" } });
    effects.startDue();
    await waker.wait(untilNextMs(context), signal);
  }
}

/** How long the effect loop may sleep. What is due already is being performed, and its end wakes the loop. */
function untilNextMs({ deps, settings }: EngineContext): number {
  const { pollMs } = settings.pace;
  const waitMs = (deps.store.nextEffectMs() ?? Number.POSITIVE_INFINITY) - deps.clock.nowMs();
  return waitMs > 0 ? Math.min(waitMs, pollMs) : pollMs;
}

/** What looks at something again and again, beside the work itself. */
function watchesOf(
  context: EngineContext,
  { clocks, reconciler }: { readonly clocks: ClockWatch; readonly reconciler: Reconciler },
  signal: AbortSignal,
): readonly (() => Promise<void>)[] {
  return [
    () => keepRevoking(context, signal),
    () => clocks.keepLooking(signal),
    () => reconciler.keepLooking(signal),
    () => reconciler.keepTelling(signal),
    () => keepSampling(context, signal, clocks),
    () => keepWatchingDrawdown(context, signal, clocks),
  ];
}

/** Waits for the look, but not for long: what is in flight is followed meanwhile, and nothing is signed before. */
async function within(clock: Clock, work: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  const isOver = new AbortController();
  const ended = AbortSignal.any([signal, isOver.signal]);
  await Promise.race([work, clock.sleep(LOOK_WITHIN_MS, ended)]);
  isOver.abort();
}

/** Timers call this work, and they only log what it throws: the daemon would look healthy and never start a run again. */
function guardedNow(onFatal: (error: unknown) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    onFatal(error);
  }
}

/** Looks for leftover allowances again and again, until the engine stops. */
async function keepRevoking(context: EngineContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await context.deps.clock.sleep(context.settings.pace.janitorMs, signal);
    if (!signal.aborted) await revokeLeftovers(context);
  }
}
