import type { BlockHead } from "../ports/chain.ts";
import type { Decided } from "../ports/changes.ts";
import type { Clock } from "../ports/clock.ts";
import type { Answered } from "../ports/questions.ts";
import { commitAndNotify, writeAndNotify } from "./alerts.ts";
import { type Beat, createBeat } from "./beat.ts";
import { type Beginning, createBeginning } from "./beginning.ts";
import { createClockJumps } from "./clock-jumps.ts";
import { type ClockWatch, createClockWatch } from "./clock-watch.ts";
import { type Committer, createCommitter } from "./commit.ts";
import { keepWritingDigests } from "./digests.ts";
import { createDowntimeWatch } from "./downtime.ts";
import { keepWatchingDrawdown } from "./drawdown.ts";
import { type DryRun, dryRunNext } from "./dry-run.ts";
import { createEditions } from "./editions.ts";
import { createEffectRunner, type EffectRunner } from "./effect-runner.ts";
import { type EngineContext, type LoadedStrategy, modeName } from "./engine-context.ts";
import { countingSlots } from "./figures.ts";
import { revokeLeftovers } from "./janitor.ts";
import { createLaneLoops } from "./lane-loops.ts";
import { startMessage } from "./messages.ts";
import { createOutsideWatch } from "./outside-watch.ts";
import { keepSampling } from "./price-sampler.ts";
import type { Absence } from "./reach.ts";
import { createReconciler, type Reconciler } from "./reconcile/reconciler.ts";
import { keepLettingGo } from "./retention.ts";
import { createSlotWork } from "./slot-work.ts";
import { createWaker, type Waker } from "./waker.ts";

/** The running daemon core. */
export interface Engine {
  /**
   * Looks at the chain, then works until stopped. Start-up is recovery: what is written down and not done is done.
   * Resolves after the first check; while the node does not answer, further looks follow and the work begins after the
   * first that is answered. A person's mistake that is found then is fatal.
   * @throws PreflightError when the first check shows one
   */
  start(): Promise<void>;
  /** Once a second: slots that are due become runs, requests of operators are taken. */
  tick(): Promise<void>;
  /** Finishes what is being done and stops. What is written down waits for the next start. */
  stop(): Promise<void>;
  readonly committer: Committer;
  /** Takes over edited strategies, each from its next slot. */
  adopt(strategies: readonly LoadedStrategy[]): Promise<void>;
  /**
   * Takes the next slot of a strategy as if it were now: nothing is written, signed or sent.
   * @returns undefined without a further slot; "unknown" where no such strategy is in force
   */
  lookAhead(strategyId: string): Promise<DryRun | undefined | "unknown">;
  /** Milliseconds since the last tick, or the start, was over: by the monotonic clock. */
  tickAgeMs(): number;
  /** how this machine's clock and the chain's agree */
  readonly clocks: Pick<ClockWatch, "skewMs" | "problem">;
  /** what is waited for before the work begins; undefined once it began */
  waitingFor(): Absence | undefined;
}

/** So many runs begin in one transaction, which costs as much as the beginning of several; then everything else has its turn. */
const BEGUN_TOGETHER = 50;
/** The first slots wait so long for the check that lets them begin. */
const CHECK_WITHIN_MS = 5_000;

/** Makes an engine. `onFatal` hears of broken invariants: the process must stop, and the next start recovers. */
export function createEngine(start: EngineContext, onFatal: (error: unknown) => void): Engine {
  const { deps, settings } = start;
  const waker = createWaker(deps.clock);
  const downtime = countingSlots(start, createDowntimeWatch(start));
  const clocks = createClockWatch(start);
  const editions = createEditions(start, downtime.heard);
  const { context } = editions;
  const laneLoops = createLaneLoops(context);
  const committer = createCommitter(context, (wallets) => {
    laneLoops.wake(wallets);
    waker.wake();
  });
  const beginning = createBeginning(start);
  const gate = createGate(deps.clock, beginning);
  const slots = createSlotWork(editions, { clocks, downtime, waitingFor: gate.waitingFor });
  const loops: Promise<void>[] = [];
  const stopping = new AbortController();
  const jumps = createClockJumps(deps);
  const outside = createOutsideWatch(start, { beginning, clocks });
  const guarded = (work: () => Promise<void>): Promise<void> => work().catch(onFatal);
  const { signal } = stopping;
  const beat = createBeat(deps.clock, { slots, first: jumps.check, wake: waker.wake, guarded, signal });
  const reconciler = createReconciler(context);
  const effects = createEffectRunner(context, committer, { clocks, guarded, hear: outside.hear, onDone: waker.wake });
  const effectLoop = (): Promise<void> => keepPerforming(start, { beat, clocks, committer, effects, waker }, signal);
  const begin = async (head: BlockHead): Promise<void> => {
    // Before anything may be signed, and before the first slot: the rows are checked against the chain.
    await reconciler.begin();
    clocks.observe(head);
    await downtime.started();
    if (signal.aborted) return;
    gate.open();
    await slots.settle();
    const firstCheck = guarded(reconciler.scan);
    const watches = watchesOf(context, { clocks, reconciler }, signal);
    // What is in flight is followed meanwhile. Nothing is signed for a wallet before its check.
    loops.push(firstCheck, ...[effectLoop, ...watches, ...laneLoops.start(signal)].map(guarded));
    await within(deps.clock, firstCheck, signal);
    waker.wake();
  };
  const waitAndBegin = async (): Promise<void> => {
    const head = await beginning.keepTrying(signal);
    if (head !== undefined) await begin(head);
  };
  return {
    committer,
    start: async () => {
      await recordStart(start);
      await slots.adopt(settings.strategies);
      loops.push(...withoutTheNode(start, { outside, clocks }, signal).map(guarded));
      const head = await beginning.attempt();
      if (head === undefined) loops.push(guarded(waitAndBegin));
      else await waitedFor(loops, begin(head));
    },
    tick: beat.tick,
    stop: async () => {
      stopping.abort();
      waker.wake();
      await Promise.all([...loops, beat.idle(), slots.idle()]);
      await effects.idle();
      // A daemon that only waited was not at work: its time belongs to the downtime.
      if (gate.waitingFor() === undefined) await downtime.stopped();
      await writeAndNotify(deps, [{ kind: "daemon-event", event: "stopped", detail: "by request" }]);
    },
    lookAhead: (strategyId) => dryRunNext(context, strategyId),
    adopt: (strategies) => (signal.aborted ? Promise.resolve() : guarded(() => slots.adopt(strategies))),
    ...{ clocks, tickAgeMs: beat.ageMs, waitingFor: beginning.waitingFor },
  };
}

/** What begins at once, whether a node answers or not. */
function withoutTheNode(
  context: EngineContext,
  { outside, clocks }: { readonly outside: ReturnType<typeof createOutsideWatch>; readonly clocks: ClockWatch },
  signal: AbortSignal,
): readonly (() => Promise<void>)[] {
  return [() => outside.keepChecking(signal), () => keepWritingDigests(context, signal, clocks)];
}

/**
 * Slots and requests wait for the node, and then until the wallets are unchecked: what stands in an older copy of the
 * database is refused by then.
 */
function createGate(
  clock: Clock,
  beginning: Pick<Beginning, "waitingFor">,
): Pick<Beginning, "waitingFor"> & { open(): void } {
  let closed: Absence | undefined = { sinceMs: clock.nowMs(), reason: "its rows are checked against their marker" };
  return {
    waitingFor: () => beginning.waitingFor() ?? closed,
    open: () => {
      closed = undefined;
    },
  };
}

/** The same work, which a stop waits for as well: it still writes rows. */
function waitedFor(loops: Promise<void>[], work: Promise<void>): Promise<void> {
  loops.push(work.catch(() => undefined));
  return work;
}

/** Writes the start down, with its message where one is wanted. */
async function recordStart(context: EngineContext): Promise<void> {
  const { deps, settings } = context;
  const started = { kind: "daemon-event", event: "started", detail: modeName(settings) } as const;
  const decide = (rows: Answered<"start">): Decided<undefined> => ({
    changes: [started, ...startMessage(context, rows)],
    atMs: deps.clock.nowMs(),
    value: undefined,
  });
  const question = { kind: "start" } as const;
  await commitAndNotify(deps, { question, decide });
}

interface Performing {
  readonly beat: Pick<Beat, "putsSlotsFirst">;
  readonly clocks: Pick<ClockWatch, "problem">;
  readonly committer: Pick<Committer, "commit">;
  readonly effects: Pick<EffectRunner, "startDue">;
  readonly waker: Waker;
}

/** Begins runs that are due and performs effects that are due, until stopped. */
async function keepPerforming(context: EngineContext, parts: Performing, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await beginSome(context, parts);
    await parts.effects.startDue();
    await parts.waker.wait(await untilNextMs(context), signal);
  }
}

/** Runs begin by a clock that can be believed, and once the slots that are due with theirs have rows. */
async function beginSome({ deps }: EngineContext, { beat, clocks, committer }: Performing): Promise<void> {
  if (clocks.problem() !== undefined || beat.putsSlotsFirst()) return;
  const due = await deps.store.read({ kind: "due-runs", limit: BEGUN_TOGETHER });
  await Promise.all(due.map((runId) => committer.commit({ runId, event: { kind: "started" } })));
}

/** How long the effect loop may sleep. What is due already is being performed, and its end wakes the loop. */
async function untilNextMs({ deps: { store, clock }, settings }: EngineContext): Promise<number> {
  const { pollMs } = settings.pace;
  const waitMs = ((await store.read({ kind: "next-effect" })) ?? Number.POSITIVE_INFINITY) - clock.nowMs();
  return waitMs > 0 ? Math.min(waitMs, pollMs) : pollMs;
}

/** What looks at something again and again, alongside the work itself. */
function watchesOf(
  context: EngineContext,
  { clocks, reconciler }: { readonly clocks: ClockWatch; readonly reconciler: Reconciler },
  signal: AbortSignal,
): readonly (() => Promise<void>)[] {
  return [
    () => keepRevoking(context, signal),
    () => clocks.keepChecking(signal),
    () => reconciler.keepChecking(signal),
    () => reconciler.keepReporting(signal),
    () => keepSampling(context, signal, clocks),
    () => keepWatchingDrawdown(context, signal, clocks),
    () => keepLettingGo(context, signal, clocks),
  ];
}

/** Waits for the check, but not for long: what else is to be done goes on. */
async function within(clock: Clock, work: Promise<void>, signal: AbortSignal): Promise<void> {
  const isOver = new AbortController();
  const ended = AbortSignal.any([signal, isOver.signal]);
  await Promise.race([work, clock.sleep(CHECK_WITHIN_MS, ended)]);
  isOver.abort();
}

/** Looks for leftover allowances again and again, until the engine stops. */
async function keepRevoking(context: EngineContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await context.deps.clock.sleep(context.settings.pace.janitorMs, signal);
    if (!signal.aborted) await revokeLeftovers(context);
  }
}
