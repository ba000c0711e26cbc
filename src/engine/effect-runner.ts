import type { RunEvent } from "../domain/run/events.ts";
import type { EffectGroup, PendingEffect } from "../ports/daemon-rows.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { Committer } from "./commit.ts";
import type { EngineContext } from "./engine-context.ts";
import type { EffectAnswer } from "./perform/effect-answer.ts";
import { performEffect } from "./perform/perform-effect.ts";

/** Performs effects that are due, a bounded number at a time. */
export interface EffectRunner {
  /** Begins as many due effects as there is room for. */
  startDue(): void;
  /** Resolves when nothing is being performed any more. */
  idle(): Promise<void>;
}

/**
 * So many effects are looked up ahead of their turn. With a thousand swaps to look at, as after a start, the question
 * which ones are due would else take longer than what is due.
 */
const AHEAD = 256;

/**
 * Looks at the chain for each other effect that may be performed at the same time. They travel together, wait for answers
 * most of their time, and must not stand behind hand-overs that wait for the rate limit of a service. Where signatures
 * carry no nonce each look asks the service too, and before any quote: there looks take their turn with everything else,
 * or no quote would be answered while many swaps are open.
 */
const LOOKS_PER_OTHER = 4;

/**
 * While a wallet was not held against the chain yet nothing new is begun with: what would be signed by it would be refused,
 * and its slot lost. What takes longer than this is told, and then everything takes its course.
 */
const HOLD_MS = 60_000;

/** What the runner is told, and tells. */
interface EffectHooks {
  /** whether the wall clock can be believed at this instant */
  readonly clocks: Pick<ClockWatch, "problem">;
  /** Runs work whose errors are broken invariants. */
  guarded(work: () => Promise<void>): Promise<void>;
  /** Hears what the outside answered, before it is committed. */
  hear(answer: EffectAnswer): void;
  /** Called after each effect: there may be room, and something new to do. */
  onDone(): void;
}

/**
 * Makes the runner. The answer of each effect is committed as the next event of its run. While this machine's clock and
 * the chain's disagree only looks are begun, and what is answered of other questions is asked again: windows and deadlines
 * would be judged by the wrong time, and runs ended for good.
 */
export function createEffectRunner(
  context: EngineContext,
  committer: Pick<Committer, "commit" | "commitTogether">,
  hooks: EffectHooks,
): EffectRunner {
  const { store, clock, service, crashPoint } = context.deps;
  const { concurrency } = context.settings.pace;
  const inFlight = new Map<number, Promise<void>>();
  const isClockWrong = (): boolean => hooks.clocks.problem() !== undefined;
  const perform = async (pending: PendingEffect): Promise<void> => {
    const before = isHandOver(pending) ? store.beginEffect(pending.id) : 0;
    crashPoint(`effect.${pending.effect.kind}.before`);
    const run = store.run(pending.runId);
    if (run === undefined) throw new Error(`effect ${pending.id} belongs to no run`);
    const answer = await performEffect(context, run, { effect: pending.effect, before });
    crashPoint(`effect.${pending.effect.kind}.after`);
    hooks.hear(answer);
    const event = isClockWrong() && !isByAnyClock(pending, answer) ? undefined : eventOf(answer);
    if (event === undefined) store.postponeEffect(pending.id, clock.nowMs());
    else {
      const { runId, id: effectId } = pending;
      await (isLook(pending) ? committer.commitTogether : committer.commit)({ runId, event, effectId });
    }
  };
  const begin = (pending: PendingEffect, underway: Set<number>): void => {
    underway.add(pending.id);
    const work = hooks
      .guarded(() => perform(pending))
      .finally(() => {
        underway.delete(pending.id);
        inFlight.delete(pending.id);
        hooks.onDone();
      });
    inFlight.set(pending.id, work);
  };
  const due = (group: EffectGroup, limit: number): PendingEffect[] =>
    store.dueEffects(clock.nowMs(), limit + inFlight.size, group).filter(({ id }) => !inFlight.has(id));
  const beginFrom = (queue: Queue): void => {
    const room = queue.most - queue.underway.size;
    if (room <= 0) return;
    if (queue.ahead.length === 0) queue.ahead = due(queue.group, AHEAD);
    for (const pending of queue.ahead.splice(0, room)) begin(pending, queue.underway);
  };
  const isHeld = createHold(context);
  const looksAskTheChainAlone = service.profile.nonceRecord !== undefined;
  const looks = looksAskTheChainAlone ? createQueue("looks", LOOKS_PER_OTHER * concurrency) : undefined;
  const others = createQueue(looks === undefined ? "no routes" : "others", concurrency);
  const beginFew = (group: EffectGroup): void => {
    const room = concurrency - others.underway.size;
    if (room > 0) for (const pending of due(group, room).slice(0, room)) begin(pending, others.underway);
  };
  return {
    startDue: () => {
      if (looks !== undefined) beginFrom(looks);
      if (isClockWrong()) {
        // What was taken ahead may be begun here.
        others.ahead = [];
        if (looks === undefined) beginFew("looks");
        return;
      }
      if (isHeld()) return;
      beginFrom(others);
      // Routes take what the others leave, and none is taken ahead: whatever else becomes due meanwhile comes first.
      beginFew("routes");
    },
    idle: async () => {
      await Promise.all(inFlight.values());
    },
  };
}

/** @returns whether everything but looks is to wait now */
function createHold({ deps: { store, clock } }: EngineContext): () => boolean {
  let sinceMs: number | undefined;
  return () => {
    const isUnchecked = store.openDifferences().some(({ kind }) => kind === "unchecked");
    sinceMs = isUnchecked ? (sinceMs ?? clock.monotonicMs()) : undefined;
    return sinceMs !== undefined && clock.monotonicMs() - sinceMs < HOLD_MS;
  };
}

interface Queue {
  readonly group: EffectGroup;
  readonly most: number;
  readonly underway: Set<number>;
  /** What is in here stays due until it is begun: nobody else answers or puts off an effect. */
  ahead: PendingEffect[];
}

function createQueue(group: EffectGroup, most: number): Queue {
  return { group, most, underway: new Set(), ahead: [] };
}

/**
 * Whether somebody else may act on what the effect hands over: its beginnings are counted, durably, so that a start after
 * a kill knows of them. All others change nothing outside and may be begun as often as there are kills.
 */
function isHandOver({ effect }: PendingEffect): boolean {
  return effect.kind === "SubmitGasless";
}

/** Whether the answer tells of the chain or the service alone, whatever is written of other runs meanwhile. */
function isLook({ effect }: PendingEffect): boolean {
  return effect.kind === "ReadChain" || effect.kind === "FetchRoute";
}

/** What a look showed, what was signed and what was handed over is so whatever time it is. */
function isByAnyClock(pending: PendingEffect, { kind }: EffectAnswer): boolean {
  return (
    isLook(pending) || kind === "signed-gasless" || kind === "submission-accepted" || kind === "submission-unknown"
  );
}

/** @returns undefined where it is to be asked again */
function eventOf(answer: EffectAnswer): RunEvent | undefined {
  if (answer.kind === "stale") return undefined;
  return answer.kind === "held-back" ? { ...answer, kind: "submission-unknown" } : answer;
}
