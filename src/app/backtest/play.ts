import type { Book } from "../../adapters/backtest/book.ts";
import type { World } from "../../adapters/backtest/world.ts";
import type { FillReceipt } from "../../domain/run/measure-fill.ts";
import type { Run } from "../../domain/run/run.ts";
import { isRunEnd, isSwapEnd } from "../../domain/run/states.ts";
import { nextInstant } from "../../domain/schedule/next-instants.ts";
import { startOfSlot } from "../../domain/schedule/slot-jitter.ts";
import type { StrategyView } from "../../domain/strategy/decision.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { MINUTE_MS } from "../../domain/time/durations.ts";
import { type Committer, createCommitter } from "../../engine/commit.ts";
import { watchDrawdown } from "../../engine/drawdown.ts";
import type { EngineContext } from "../../engine/engine-context.ts";
import { isEvent } from "../../engine/perform/effect-answer.ts";
import { performEffect } from "../../engine/perform/perform-effect.ts";
import { registerStrategies } from "../../engine/register-strategies.ts";
import { insertDueRuns } from "../../engine/scheduler.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What a backtest is played with. */
export interface Stage {
  readonly context: EngineContext;
  readonly clock: VirtualClock;
  readonly book: Book;
  readonly world: World;
  /** the value of the wallets is looked at so often, milliseconds */
  readonly lookMs: number;
}

/** Somebody who watches. */
export interface Watcher {
  /** before anything is traded, every `lookMs`, and at the end */
  look(atMs: number): void;
  /** a strategy is about to decide on a view, with its memory as it is stored */
  viewed(run: Run, view: StrategyView, memory: string): void;
  /** a transaction is in a block */
  landed(swapId: string, intent: IntentRow, receipt: FillReceipt): void;
}

/** After so many steps at one instant something goes round in a circle. */
const MOST_STEPS = 100_000;

/**
 * Plays the slots of all strategies before an instant: the daemon's own scheduler, effects and steps, in the order of their
 * instants. One run is taken as far as it goes before time passes.
 */
export async function play(stage: Stage, untilMs: number, watcher: Watcher): Promise<void> {
  const { context, clock, book } = stage;
  await registerStrategies(context);
  // What there is before the first trade, which a strategy may make at once.
  let lookMs = await look(stage, watcher);
  await settle(stage, watcher);
  const starts = new Starts(stage);
  for (;;) {
    const nextMs = Math.min(starts.next(), book.nextEffectMs(), lookMs);
    if (nextMs >= untilMs) break;
    if (nextMs <= clock.nowMs()) throw new Error(`a backtest stands still at ${nextMs}`);
    clock.set(nextMs);
    if (nextMs >= lookMs) lookMs = await look(stage, watcher);
    await starts.begin();
    await settle(stage, watcher);
    // A slot that waited for a run begins with its end.
    while (await starts.begin()) await settle(stage, watcher);
  }
  // The last moment that the last candles cover: their close.
  clock.set(untilMs - 1);
  watcher.look(untilMs - 1);
}

/** @returns when the value is looked at next */
async function look({ context, clock, lookMs }: Stage, watcher: Watcher): Promise<number> {
  await watchDrawdown(context, NEVER, NO_DOUBT);
  watcher.look(clock.nowMs());
  return clock.nowMs() + lookMs;
}

const NEVER = new AbortController().signal;
const NO_DOUBT = { problem: () => undefined };

/** A slot that waits for an open run is looked at this often at least: it ends when it grows too old. */
const WAITING_LOOK_MS = MINUTE_MS;

/** When strategies start next, as their last handled slots say. */
class Starts {
  readonly #stage: Stage;
  readonly #known = new Map<StrategySpec, { readonly lastMs: number; readonly startMs: number }>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** When slots are looked at next, always after now. */
  next(): number {
    const nowMs = this.#stage.clock.nowMs();
    return this.#earliest((spec) => {
      const startMs = this.#startOf(spec);
      return startMs > nowMs ? startMs : nowMs + WAITING_LOOK_MS;
    });
  }

  /** Begins runs of the slots that are due; those of a strategy with an open run may wait. @returns whether one began */
  async begin(): Promise<boolean> {
    const { context, clock } = this.#stage;
    if (this.#earliest((spec) => this.#startOf(spec)) > clock.nowMs()) return false;
    return (await insertDueRuns(context)).length > 0;
  }

  #earliest(of: (spec: StrategySpec) => number): number {
    return Math.min(...this.#stage.context.settings.strategies.map(({ spec }) => of(spec)));
  }

  #startOf(spec: StrategySpec): number {
    const { book, context } = this.#stage;
    const { zones } = context.deps;
    const lastMs = book.strategy(spec.id).lastSlotMs;
    const known = this.#known.get(spec);
    if (known?.lastMs === lastMs) return known.startMs;
    const slotMs = nextInstant(spec.schedule, lastMs, zones);
    const startMs = slotMs === undefined ? Number.POSITIVE_INFINITY : startOfSlot(spec, slotMs, zones);
    this.#known.set(spec, { lastMs, startMs });
    return startMs;
  }
}

/** Does all that is due now: runs that begin, effects, and transactions, which are in a block at once. */
async function settle(stage: Stage, watcher: Watcher): Promise<void> {
  const { context, clock, book } = stage;
  const { commit } = createCommitter(context, () => undefined);
  // What is due of one run is done before another's: of two that share a wallet each sees what the other left.
  let atWork: string | undefined;
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    for (const intent of book.takeIntents()) await land(stage, intent, { commit, watcher });
    const next = book.takeEffect(clock.nowMs(), atWork);
    atWork = next?.run.id;
    if (next === undefined) {
      const due = book.takeDueRun();
      if (due === undefined) return;
      await commit({ runId: due.id, event: { kind: "started" } });
      continue;
    }
    const answer = await performEffect(context, next.run, { effect: next.effect, before: 0 });
    if (!isEvent(answer)) throw new Error(`${next.effect.kind} of ${next.run.id} was ${answer.kind} in a backtest`);
    if (answer.kind === "view-read") watcher.viewed(next.run, answer.view, book.strategy(next.run.strategyId).memory);
    await commit({ runId: next.run.id, event: answer });
    forgetIfOver(stage, next.run.id);
  }
  throw new Error(`a backtest took ${MOST_STEPS} steps at one instant`);
}

/** What a lane would report of a transaction that is in the next block, which nothing takes back. */
async function land(
  { book, world }: Stage,
  intent: IntentRow,
  { commit, watcher }: { readonly commit: Committer["commit"]; readonly watcher: Watcher },
): Promise<void> {
  const [runId = "", position, attempt] = placeOf(intent.id);
  const swapId = `${runId}.${position}.${attempt}`;
  const receipt = world.execute(intent);
  watcher.landed(swapId, intent, receipt);
  const { hash } = receipt;
  const changes = [
    { kind: "signed", hash },
    { kind: "broadcast", hash },
    { kind: "mined", receipt, value: intent.value },
    { kind: "confirmed", succeeded: true, receipt, value: intent.value },
    { kind: "final", outcome: "succeeded", receipt, value: intent.value },
  ] as const;
  for (const change of changes)
    await commit({ runId, event: { kind: "transaction", swapId, intentId: intent.id, change } });
  if (isRunEnd(book.run(runId).state)) forgetIfOver({ book }, runId);
}

/** A transaction's name begins with the run, the position and the attempt of its swap. */
function placeOf(intentId: string): readonly string[] {
  const parts = intentId.split(".");
  return [parts.slice(0, -3).join("."), ...parts.slice(-3, -1)];
}

function forgetIfOver({ book }: Pick<Stage, "book">, runId: string): void {
  const run = book.run(runId);
  if (isRunEnd(run.state) && run.swaps.every(({ state }) => isSwapEnd(state))) book.forget(runId);
}
