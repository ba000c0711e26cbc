import type { Check } from "../domain/guard/check.ts";
import type { Effect, EffectRequest } from "../domain/run/effects.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { RunRecord } from "../domain/run/records.ts";
import type { Run, Swap } from "../domain/run/run.ts";
import { isSwapEnd } from "../domain/run/states.ts";
import { step } from "../domain/run/step.ts";
import { plannedSwap } from "../domain/run/step-decide.ts";
import { wantsGasless } from "../domain/run/step-quote.ts";
import { nextWithoutEnd } from "../domain/schedule/ended-slots.ts";
import type { PlannedSwap } from "../domain/strategy/decision.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { type EngineContext, type LoadedStrategy, strategyOf } from "./engine-context.ts";
import { gatherEvidence } from "./gather-evidence.ts";
import { barringMode, modeOf } from "./modes.ts";
import { isEvent } from "./perform/effect-answer.ts";
import { performEffect } from "./perform/perform-effect.ts";
import { dueRun } from "./scheduler.ts";

/** What a dry run came to. `checks` are those of the last question of each swap. */
export interface DryRun {
  readonly run: Run;
  readonly checks: ReadonlyMap<string, readonly Check[]>;
  /** it would be asked again in a while: the answer is what it is now */
  readonly waits: boolean;
  /** why, as far as it is known */
  readonly waitsFor: { readonly reason: string; readonly detail: string } | undefined;
  /** the mode by which the strategy starts no run, whose word it is, and why; undefined where it may */
  readonly barred: Pick<ModeRow, "scope" | "mode" | "setBy" | "reason"> | undefined;
}

/** Reading is all that a dry run may do outside. */
const READING = new Set<EffectRequest["effect"]["kind"]>(["ReadView", "FetchQuote", "ReadFacts"]);
const MAX_STEPS = 200;

/**
 * Takes a strategy's next slot through the same core as the daemon, now, in memory and as a dry run: nothing is written,
 * signed or sent. What would be asked again later ends the dry run.
 * @returns undefined when the schedule has no further slot
 * @throws Error when the core wants anything but to read: a broken invariant
 */
export async function dryRunSlot(context: EngineContext, strategy: LoadedStrategy): Promise<DryRun | undefined> {
  const { clock, zones, store } = context.deps;
  const { spec } = strategy;
  const { strategy: row, ...rows } = await store.read({ kind: "strategy", strategyId: spec.id });
  // A slot that was skipped, or traded early, is over.
  const { endedAhead } = await store.read({ kind: "slots", strategyIds: [spec.id] });
  const afterMs = Math.max(row?.lastSlotMs ?? 0, clock.nowMs());
  const slotMs = nextWithoutEnd(spec.schedule, { afterMs, ended: endedAhead.get(spec.id) ?? [] }, zones);
  if (slotMs === undefined) return undefined;
  const mode = modeOf(spec.id, rows);
  const due = dueRun(context, strategy, { slotMs, slots: 1 });
  const { stage, waits } = await playFromStart(context, due);
  const waitsFor = waits ? await reasonToWait(context, due, stage) : undefined;
  const barred = barringMode(mode.mode, spec) === undefined ? undefined : mode;
  return { run: stage.run(), checks: stage.checks, waits, waitsFor, barred };
}

async function playFromStart(context: EngineContext, due: Run): Promise<{ stage: Stage; waits: boolean }> {
  const stage = createStage(context, due);
  await stage.take({ kind: "started" });
  return { stage, waits: await stage.play() };
}

/** A strategy that puts its decision off leaves no word of why, unless its window ends at once. */
async function reasonToWait(context: EngineContext, due: Run, waiting: Stage): Promise<DryRun["waitsFor"]> {
  const refusal = waiting.lastRefusal();
  if (refusal !== undefined) return { reason: refusal, detail: waiting.detail() };
  const { stage } = await playFromStart(context, { ...due, windowEndsMs: context.deps.clock.nowMs() });
  const { reason, detail = "" } = stage.run();
  return reason === undefined ? undefined : { reason, detail };
}

/** The same of a strategy by its id; "unknown" where no such strategy is in force. */
export async function dryRunNext(context: EngineContext, strategyId: string): Promise<DryRun | undefined | "unknown"> {
  const strategy = strategyOf(context, strategyId);
  return strategy === undefined ? "unknown" : await dryRunSlot(context, strategy);
}

/** Takes one swap of a strategy from its quote to the signature, in the same way. What it ended with is its reason. */
export async function dryRunSwap(
  context: EngineContext,
  asked: { readonly spec: StrategySpec; readonly swap: PlannedSwap; readonly amount: bigint },
): Promise<Pick<Swap, "state" | "reason" | "quote"> & { readonly detail: string }> {
  const { spec, amount } = asked;
  const due = dueRun(context, { spec, specHash: "dry-run" }, { slotMs: context.deps.clock.nowMs(), slots: 1 });
  const planned = { ...asked.swap, amount: { kind: "fixed", raw: amount } } as const;
  const swap: Swap = { ...plannedSwap(due, { planned, position: 0, attempt: 1 }, spec), begun: true };
  // A second swap behind it keeps the run open: its end is no business of the strategy's memory here.
  const behind: Swap = { ...plannedSwap(due, { planned, position: 1, attempt: 1 }, spec) };
  const stage = createStage(context, { ...due, state: "executing", swaps: [swap, behind] });
  const { slippage } = spec.limits;
  const ask = { swapId: swap.id, amount: amount.toString(), slippagePpm: slippage.toString() };
  stage.perform({ kind: "FetchQuote", ...ask, gasless: wantsGasless(swap) });
  await stage.play((run) => run.swaps.some(({ id, state }) => id === swap.id && isSwapEnd(state)));
  const [ended = swap] = stage.run().swaps;
  return {
    state: ended.state,
    reason: ended.reason ?? stage.lastRefusal(),
    quote: ended.quote,
    detail: stage.detail(),
  };
}

interface Stage {
  run(): Run;
  readonly checks: ReadonlyMap<string, readonly Check[]>;
  /** why the last question was not answered, when it would be asked again */
  lastRefusal(): string | undefined;
  /** what was said of the swap's end, or of the last refusal */
  detail(): string;
  take(event: RunEvent): Promise<void>;
  perform(effect: Effect): void;
  /** @returns whether something would be asked again in a while */
  play(isOver?: (run: Run) => boolean): Promise<boolean>;
}

/** One run in memory, with nothing around it but what can be read. */
function createStage(context: EngineContext, start: Run): Stage {
  const { clock } = context.deps;
  const dry: EngineContext = { ...context, settings: { ...context.settings, live: false } };
  const checks = new Map<string, readonly Check[]>();
  const pending: EffectRequest[] = [];
  let run = start;
  let detail = "";
  let refusal: string | undefined;
  const hear = (record: RunRecord): void => {
    if (record.kind === "retry") [refusal, detail] = [record.reason, record.detail];
    if (record.kind !== "checks") return;
    checks.set(record.swapId, record.checks);
    const failed = record.checks.find((check) => !check.ok);
    if (failed !== undefined) [refusal, detail] = [failed.code, `${failed.subject}: ${failed.value}, ${failed.limit}`];
  };
  const take = async (event: RunEvent): Promise<void> => {
    const result = step(run, event, await gatherEvidence(dry, run, event));
    run = result.run;
    pending.push(...result.effects);
    if (event.kind === "quote-refused") [refusal, detail] = [event.code, event.message];
    for (const transition of result.transitions)
      if (transition.subject === "swap") detail = transition.detail ?? detail;
    result.records.forEach(hear);
  };
  const ask = async (next: EffectRequest): Promise<void> => {
    if (!READING.has(next.effect.kind)) throw new Error(`a dry run of ${run.strategyId} wants ${next.effect.kind}`);
    const answer = await performEffect(dry, run, { effect: next.effect, before: 0 });
    if (isEvent(answer)) await take(answer);
    else pending.push(next);
  };
  return {
    run: () => run,
    checks,
    lastRefusal: () => refusal,
    detail: () => detail,
    take,
    perform: (effect) => pending.push({ effect, notBeforeMs: 0 }),
    play: async (isOver = () => false) => {
      for (let steps = 0; steps < MAX_STEPS; steps += 1) {
        const next = pending.shift();
        if (next === undefined || isOver(run)) return false;
        if (next.notBeforeMs > clock.nowMs()) return true;
        await ask(next);
      }
      return true;
    },
  };
}
