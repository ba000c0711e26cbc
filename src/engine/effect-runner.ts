import type { PendingEffect } from "../ports/store.ts";
import type { Committer } from "./commit.ts";
import type { EngineContext } from "./engine-context.ts";
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
const AHEAD = 128;

/**
 * Makes the runner. The answer of each effect is committed as the next event of its run.
 * @param guarded runs work whose errors are broken invariants
 * @param onDone called after each effect: there may be room, and something new to do
 */
export function createEffectRunner(
  context: EngineContext,
  committer: Committer,
  hooks: { guarded(work: () => Promise<void>): Promise<void>; onDone(): void },
): EffectRunner {
  const { store, clock, crashPoint } = context.deps;
  const { concurrency } = context.settings.pace;
  const inFlight = new Map<number, Promise<void>>();
  const perform = async (pending: PendingEffect): Promise<void> => {
    const before = isHandOver(pending) ? store.beginEffect(pending.id) : 0;
    crashPoint(`effect.${pending.effect.kind}.before`);
    const run = store.run(pending.runId);
    if (run === undefined) throw new Error(`effect ${pending.id} belongs to no run`);
    const answer = await performEffect(context, run, { effect: pending.effect, before });
    crashPoint(`effect.${pending.effect.kind}.after`);
    if (answer.kind === "stale") store.postponeEffect(pending.id, clock.nowMs());
    else if (isLook(pending))
      await committer.commitTogether({ runId: pending.runId, event: answer, effectId: pending.id });
    else committer.commit(pending.runId, answer, pending.id);
  };
  const begin = (pending: PendingEffect): void => {
    const work = hooks
      .guarded(() => perform(pending))
      .finally(() => {
        inFlight.delete(pending.id);
        hooks.onDone();
      });
    inFlight.set(pending.id, work);
  };
  // What is in here stays due until it is begun: nobody else answers or puts off an effect.
  let ahead: PendingEffect[] = [];
  const lookAhead = (room: number): void => {
    // Routes come last also with what becomes due meanwhile, so of them no more are taken than are begun now.
    const due = store.dueEffects(clock.nowMs(), AHEAD + inFlight.size, room + inFlight.size);
    ahead = due.filter(({ id }) => !inFlight.has(id));
  };
  return {
    startDue: () => {
      const room = concurrency - inFlight.size;
      if (room <= 0) return;
      if (ahead.length === 0) lookAhead(room);
      for (const pending of ahead.splice(0, room)) begin(pending);
      if (ahead.some(isRoute)) ahead = ahead.filter((pending) => !isRoute(pending));
    },
    idle: async () => {
      await Promise.all(inFlight.values());
    },
  };
}

/**
 * Whether somebody else may act on what the effect hands over: its beginnings are counted, durably, so that a start after
 * a kill knows of them. All others change nothing outside and may be begun as often as there are kills.
 */
function isHandOver({ effect }: PendingEffect): boolean {
  return effect.kind === "SubmitGasless";
}

function isRoute({ effect }: PendingEffect): boolean {
  return effect.kind === "FetchRoute";
}

/** Whether the answer tells of the chain or the service alone, whatever is written of other runs meanwhile. */
function isLook({ effect }: PendingEffect): boolean {
  return effect.kind === "ReadChain" || effect.kind === "FetchRoute";
}
