import type { Address } from "../domain/money/address.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Change } from "../ports/changes.ts";
import type { EffectGroup, PendingEffect } from "../ports/daemon-rows.ts";
import type { Answered } from "../ports/questions.ts";
import { writeAndNotify } from "./alerts.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { Committer } from "./commit.ts";
import type { EngineContext } from "./engine-context.ts";
import { type EffectAnswer, isEvent } from "./perform/effect-answer.ts";
import { performEffect } from "./perform/perform-effect.ts";

/** Performs effects that are due, a bounded number at a time. */
export interface EffectRunner {
  /** Begins as many due effects as there is room for; one call is over before the next. */
  startDue(): Promise<void>;
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
 * most of their time, and must not stand behind submissions that wait for the rate limit of a service. Where signatures
 * carry no nonce each check asks the service too, and before any quote: there looks take their turn with everything else,
 * or no quote would be answered while many swaps are open.
 */
const POLLS_PER_OTHER = 4;

/**
 * While a wallet was not checked against the chain yet nothing new is begun with: what would be signed by it would be refused,
 * and its slot lost; and what it sold counts in what all wallets may sell together. What was signed before is submitted
 * once its own wallet was checked: it was counted when it was signed. What takes longer than this is reported, and then
 * everything takes its course.
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
  /** Called after each effect that was answered: there is room, and perhaps something new to do. */
  onDone(): void;
}

/**
 * Makes the runner. The answer of each effect is committed as the next event of its run. While this machine's clock and
 * the chain's disagree only looks are begun, and what is answered of other questions is asked again: windows and deadlines
 * would be judged by the wrong time, and runs ended for good.
 */
export function createEffectRunner(
  context: EngineContext,
  committer: Pick<Committer, "commit">,
  hooks: EffectHooks,
): EffectRunner {
  const { service } = context.deps;
  const { concurrency } = context.settings.pace;
  const inFlight = new Map<number, Promise<void>>();
  const isClockWrong = (): boolean => hooks.clocks.problem() !== undefined;
  const perform = createPerform(context, committer, hooks);
  const begin = (pending: PendingEffect, underway: Set<number>): void => {
    underway.add(pending.id);
    // One that finds an invariant broken stays in flight: the process ends, and until then it is not begun again.
    const work = hooks.guarded(async () => {
      await perform(pending);
      underway.delete(pending.id);
      inFlight.delete(pending.id);
      hooks.onDone();
    });
    inFlight.set(pending.id, work);
  };
  const due = createDueQuestion(context, inFlight);
  const beginFrom = async (queue: Queue): Promise<void> => {
    if (queue.underway.size >= queue.most) return;
    if (queue.ahead.length === 0) queue.ahead = [...(await due(queue.group, AHEAD))];
    const room = queue.most - queue.underway.size;
    for (const pending of queue.ahead.splice(0, room)) begin(pending, queue.underway);
  };
  const hold = createHold(context);
  const pollsAskTheChainAlone = service.profile.nonceRecord !== undefined;
  const polls = pollsAskTheChainAlone ? createQueue("polls", POLLS_PER_OTHER * concurrency) : undefined;
  const others = createQueue(polls === undefined ? "no routes" : "others", concurrency);
  const beginFew = async (group: EffectGroup): Promise<void> => {
    const room = concurrency - others.underway.size;
    if (room <= 0) return;
    for (const pending of (await due(group, room)).slice(0, room)) begin(pending, others.underway);
  };
  const submitChecked = async (isChecked: (pending: PendingEffect) => Promise<boolean>): Promise<void> => {
    for (const pending of await due("submissions", AHEAD)) {
      if (others.underway.size >= concurrency) return;
      if (await isChecked(pending)) begin(pending, others.underway);
    }
  };
  return {
    startDue: async () => {
      if (polls !== undefined) await beginFrom(polls);
      const isWrong = isClockWrong();
      const isChecked = isWrong ? undefined : await hold();
      if (isWrong || isChecked !== undefined) {
        // What was taken ahead may be begun here.
        others.ahead = [];
        if (polls === undefined) await beginFew("polls");
        if (isChecked !== undefined) await submitChecked(isChecked);
        return;
      }
      await beginFrom(others);
      // Routes take what the others leave, and none is taken ahead: whatever else becomes due meanwhile comes first.
      await beginFew("routes");
    },
    idle: async () => {
      await Promise.all(inFlight.values());
    },
  };
}

/** Makes the performance of one effect, to the commit of its answer. */
function createPerform(
  context: EngineContext,
  committer: Pick<Committer, "commit">,
  { clocks, hear }: Pick<EffectHooks, "clocks" | "hear">,
): (pending: PendingEffect) => Promise<void> {
  const { crashPoint } = context.deps;
  const isClockWrong = (): boolean => clocks.problem() !== undefined;
  return async (pending) => {
    const { run, begun } = await beginningOf(context, pending);
    crashPoint(`effect.${pending.effect.kind}.before`);
    const answer = await performEffect(context, run, { effect: pending.effect, before: begun });
    crashPoint(`effect.${pending.effect.kind}.after`);
    hear(answer);
    const event = isClockWrong() && !isByAnyClock(pending, answer) ? undefined : eventOf(answer);
    if (event === undefined) await writeAndNotify(context.deps, [postponed(context, pending, answer)]);
    else {
      const { runId, id: effectId } = pending;
      await committer.commit({ runId, event, effectId });
    }
  };
}

/** Makes the question which effects of a group are due and not in flight; so many of them at most, or some more. */
function createDueQuestion(
  { deps: { store, clock } }: EngineContext,
  inFlight: ReadonlyMap<number, unknown>,
): (group: EffectGroup, limit: number) => Promise<readonly PendingEffect[]> {
  return async (group, limit) => {
    // As of the question: what is answered meanwhile may still be in the answer, and would be begun a second time.
    const busy = new Set(inFlight.keys());
    const question = { kind: "due-effects", nowMs: clock.nowMs(), limit: limit + busy.size, group } as const;
    return (await store.read(question)).filter(({ id }) => !busy.has(id));
  };
}

/** Its run, and how often it was begun before: what is submitted is counted, durably, before it is performed. */
async function beginningOf({ deps }: EngineContext, pending: PendingEffect): Promise<Answered<"effect">> {
  const { store, clock } = deps;
  const { id: effectId, runId } = pending;
  const question = { kind: "effect", effectId, runId } as const;
  if (!isSubmission(pending)) return await store.read(question);
  const changes = [{ kind: "effect-begun", effectId }] as const;
  const decide = (rows: Answered<"effect">) => ({ changes, atMs: clock.nowMs(), value: rows });
  const [written] = await store.commit([{ question, decide }]);
  if (written === undefined) throw new Error(`effect ${effectId} was not begun`);
  return written.value;
}

/** @returns while everything but looks is to wait: which submissions of a wallet that was checked need not */
function createHold({ deps: { store, clock } }: EngineContext) {
  let sinceMs: number | undefined;
  const wallets = new Map<number, Address | undefined>();
  const walletOf = async ({ id, runId, effect }: PendingEffect): Promise<Address | undefined> => {
    if (wallets.has(id) || effect.kind !== "SubmitGasless") return wallets.get(id);
    const { run } = await store.read({ kind: "hold", runId });
    const wallet = run?.swaps.find((swap) => swap.id === effect.swapId)?.wallet;
    wallets.set(id, wallet);
    return wallet;
  };
  return async (): Promise<((pending: PendingEffect) => Promise<boolean>) | undefined> => {
    const open = await store.read({ kind: "differences" });
    const unchecked = new Set(open.filter(({ kind }) => kind === "unchecked").map(({ wallet }) => wallet));
    sinceMs = unchecked.size > 0 ? (sinceMs ?? clock.monotonicMs()) : undefined;
    if (sinceMs === undefined || clock.monotonicMs() - sinceMs >= HOLD_MS) {
      wallets.clear();
      return undefined;
    }
    return async (pending) => {
      const wallet = await walletOf(pending);
      return wallet !== undefined && !unchecked.has(wallet);
    };
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
 * Whether somebody else may act on what the effect submits: its beginnings are counted, durably, so that a start after
 * a kill knows of them. All others change nothing outside and may be begun as often as there are kills.
 */
function isSubmission({ effect }: PendingEffect): boolean {
  return effect.kind === "SubmitGasless";
}

/** Whether the answer reports the chain or the service alone, whatever is written of other runs meanwhile. */
function isPoll({ effect }: PendingEffect): boolean {
  return effect.kind === "ReadChain" || effect.kind === "FetchRoute";
}

/** What a check showed, what was signed and what was submitted is so whatever time it is. */
function isByAnyClock(pending: PendingEffect, { kind }: EffectAnswer): boolean {
  return (
    isPoll(pending) || kind === "signed-gasless" || kind === "submission-accepted" || kind === "submission-unknown"
  );
}

/** What is to be done again: at once, or after a pause where a signer gave no signature, or no node the time. */
function postponed({ deps, settings }: EngineContext, { id: effectId }: PendingEffect, { kind }: EffectAnswer): Change {
  if (kind !== "unsigned" && kind !== "unsent") return { kind: "effect-postponed", effectId };
  return { kind: "effect-postponed", effectId, untilMs: deps.clock.nowMs() + settings.pace.retryMs };
}

/** @returns undefined where it is to be asked again */
function eventOf(answer: EffectAnswer): RunEvent | undefined {
  if (answer.kind === "held-back") return { ...answer, kind: "submission-unknown" };
  return isEvent(answer) ? answer : undefined;
}
