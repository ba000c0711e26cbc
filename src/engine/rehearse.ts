import type { Check } from "../domain/guard/check.ts";
import type { EffectRequest } from "../domain/run/effects.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Run } from "../domain/run/run.ts";
import { step } from "../domain/run/step.ts";
import { nextInstant } from "../domain/schedule/next-instants.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { performEffect } from "./perform/perform-effect.ts";
import { dueRun } from "./scheduler.ts";
import { factsFor } from "./step-facts.ts";

/** What a rehearsed run came to. `checks` are those of the last question of each swap. */
export interface Rehearsal {
  readonly run: Run;
  readonly checks: ReadonlyMap<string, readonly Check[]>;
  /** it would be asked again in a while: the answer is what it is now */
  readonly waits: boolean;
}

/** Reading is all that a rehearsal may do outside. */
const READING = new Set<EffectRequest["effect"]["kind"]>(["ReadView", "FetchQuote", "ReadFacts"]);
const MAX_STEPS = 200;

/**
 * Takes a strategy's next slot through the same core as the daemon, now, in memory and as a dry run: nothing is written,
 * signed or sent. What would be asked again later ends the rehearsal.
 * @returns undefined when the schedule has no further slot
 * @throws Error when the core wants anything but to read: a broken invariant
 */
export async function rehearse(context: EngineContext, strategy: LoadedStrategy): Promise<Rehearsal | undefined> {
  const { clock, zones } = context.deps;
  const slotMs = nextInstant(strategy.spec.schedule, clock.nowMs(), zones);
  if (slotMs === undefined) return undefined;
  const dry: EngineContext = { ...context, settings: { ...context.settings, live: false } };
  const checks = new Map<string, readonly Check[]>();
  let run = dueRun(dry, strategy, { slotMs, slots: 1 });
  const pending: EffectRequest[] = [];
  const take = (event: RunEvent): void => {
    const result = step(run, event, factsFor(dry, run));
    run = result.run;
    pending.push(...result.effects);
    for (const record of result.records) if (record.kind === "checks") checks.set(record.swapId, record.checks);
  };
  take({ kind: "started" });
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const next = pending.shift();
    if (next === undefined) return { run, checks, waits: false };
    if (next.notBeforeMs > clock.nowMs()) return { run, checks, waits: true };
    if (!READING.has(next.effect.kind)) throw new Error(`a rehearsal of ${run.strategyId} wants ${next.effect.kind}`);
    const answer = await performEffect(dry, run, { effect: next.effect, before: 0 });
    if (answer.kind === "stale") pending.push(next);
    else take(answer);
  }
  return { run, checks, waits: true };
}
