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
    const before = store.beginEffect(pending.id);
    crashPoint(`effect.${pending.effect.kind}.before`);
    const run = store.run(pending.runId);
    if (run === undefined) throw new Error(`effect ${pending.id} belongs to no run`);
    const answer = await performEffect(context, run, { effect: pending.effect, before });
    crashPoint(`effect.${pending.effect.kind}.after`);
    if (answer.kind === "stale") store.postponeEffect(pending.id, clock.nowMs());
    else committer.commit(pending.runId, answer, pending.id);
  };
  return {
    startDue: () => {
      const room = concurrency - inFlight.size;
      if (room <= 0) return;
      for (const pending of store.dueEffects(clock.nowMs(), room + inFlight.size)) {
        if (inFlight.has(pending.id) || inFlight.size >= concurrency) continue;
        const work = hooks
          .guarded(() => perform(pending))
          .finally(() => {
            inFlight.delete(pending.id);
            hooks.onDone();
          });
        inFlight.set(pending.id, work);
      }
    },
    idle: async () => {
      await Promise.all(inFlight.values());
    },
  };
}
