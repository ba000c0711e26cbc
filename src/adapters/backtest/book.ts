import type { DrawdownState } from "../../domain/guard/drawdown.ts";
import type { Address } from "../../domain/money/address.ts";
import type { EffectRequest } from "../../domain/run/effects.ts";
import type { RunEvent } from "../../domain/run/events.ts";
import type { LedgerEvidence } from "../../domain/run/evidence.ts";
import { GLOBAL_SCOPE, type ModeRow } from "../../domain/run/operating-mode.ts";
import type { PriceEvidence, RunRecord } from "../../domain/run/records.ts";
import { type Run, swapOf } from "../../domain/run/run.ts";
import { isRunEnd } from "../../domain/run/states.ts";
import type { PriceBar } from "../../domain/strategy/decision.ts";
import type { Change, StepQuestion, StepRows } from "../../ports/changes.ts";
import type { StrategyRow } from "../../ports/daemon-rows.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import type { Answered, Question, QuestionKind } from "../../ports/questions.ts";
import type { Store } from "../../ports/store.ts";
import type { Unit } from "../../ports/unit-of-work.ts";
import type { BookListener } from "./book-listener.ts";
import { Ledger } from "./ledger.ts";

/** An effect that is to be performed for a run, from an instant on. */
export interface BookedEffect extends EffectRequest {
  readonly run: Run;
}

/** The rows of a backtest, in memory: the same questions and changes as the daemon's, as far as a backtest has them. */
export interface Book {
  readonly store: Store;
  /** an effect that is due by an instant, gone from the book: the earliest of this run, else of any */
  takeEffect(nowMs: number, runId: string | undefined): BookedEffect | undefined;
  /** infinite where none is left */
  nextEffectMs(): number;
  /** a run that has not begun; each is given once */
  takeDueRun(): Run | undefined;
  /** transactions that were asked for; each is given once */
  takeIntents(): readonly IntentRow[];
  run(runId: string): Run;
  strategy(strategyId: string): StrategyRow;
  /** nobody asks for the run any more */
  forget(runId: string): void;
}

/** The hours of a token from an instant on. */
type Bars = (token: Address, sinceMs: number) => readonly PriceBar[];

type Readers = { readonly [K in QuestionKind]?: (asked: Question<K>) => Answered<K> };

/** Opens an empty book. `bars` are the prices that strategies look back at, from an instant on. */
export function openBook(listener: BookListener, bars: Bars): Book {
  const rows = new Rows(listener);
  const readers = readersOf(rows, bars);
  const read = <K extends QuestionKind>(question: Question<K>): Answered<K> => {
    const reader = readers[question.kind];
    if (reader === undefined) throw new Error(`a backtest has no answer to ${question.kind}`);
    return reader(question);
  };
  const commit = <K extends QuestionKind, T>({ question, decide }: Unit<K, T>) => {
    const { changes, atMs, value } = decide(read(question));
    for (const change of changes) rows.write(change, atMs);
    return { value, alerts: [] };
  };
  return {
    store: {
      read: async (question) => read(question),
      commit: async (units) => units.map(commit),
      ...{ letRunsGo: neverOld, closeIdleGaps: neverOld },
    },
    takeEffect: (nowMs, runId) => rows.takeEffect(nowMs, runId) ?? rows.takeEffect(nowMs),
    nextEffectMs: () => Math.min(Number.POSITIVE_INFINITY, ...rows.effects.map(({ notBeforeMs }) => notBeforeMs)),
    takeDueRun: () => rows.due.shift(),
    takeIntents: () => rows.intents.splice(0),
    run: (runId) => rows.run(runId),
    strategy: (strategyId) => rows.strategy(strategyId),
    forget: (runId) => rows.forget(runId),
  };
}

const neverOld = async (): Promise<never> => {
  throw new Error("a backtest keeps no rows that grow old");
};

class Rows {
  readonly strategies = new Map<string, StrategyRow>();
  readonly runs = new Map<string, Run>();
  readonly modes = new Map<string, ModeRow>();
  readonly prices = new Map<string, PriceEvidence>();
  readonly ledger = new Ledger();
  readonly due: Run[] = [];
  readonly intents: IntentRow[] = [];
  readonly effects: (EffectRequest & { readonly runId: string })[] = [];
  readonly failures: { readonly strategyId: string; readonly reason: string; readonly atMs: number }[] = [];
  drawdown: DrawdownState | undefined;
  readonly #listener: BookListener;

  constructor(listener: BookListener) {
    this.#listener = listener;
  }

  strategy(id: string): StrategyRow {
    const row = this.strategies.get(id);
    if (row === undefined) throw new Error(`strategy ${id} has no row`);
    return row;
  }

  run(id: string): Run {
    const run = this.runs.get(id);
    if (run === undefined) throw new Error(`there is no run ${id}`);
    return run;
  }

  busy(): ReadonlySet<string> {
    const open = [...this.runs.values()].filter(({ state }) => !isRunEnd(state));
    return new Set(open.map(({ strategyId }) => strategyId));
  }

  takeEffect(nowMs: number, of?: string): BookedEffect | undefined {
    const index = this.effects.findIndex(
      ({ notBeforeMs, runId }) => notBeforeMs <= nowMs && (of === undefined || runId === of),
    );
    const [taken] = index < 0 ? [] : this.effects.splice(index, 1);
    return taken && { ...taken, run: this.run(taken.runId) };
  }

  forget(runId: string): void {
    for (const { id } of this.run(runId).swaps) this.prices.delete(id);
    this.runs.delete(runId);
  }

  /** What only people or a database need is passed over. */
  write(change: Change, atMs: number): void {
    if (change.kind === "strategy") this.strategies.set(change.row.id, change.row);
    else if (change.kind === "last-slot") this.#amend(change.strategyId, { lastSlotMs: change.lastSlotMs });
    else if (change.kind === "run-due") this.#begin(change.run);
    else if (change.kind === "gap") this.#listener.gap(change.gap);
    else if (change.kind === "run") this.#move(change.run, change.before, atMs);
    else if (change.kind === "record") this.#record(change.run, change.record, atMs);
    else if (change.kind === "effects")
      this.effects.push(...change.effects.filter(isNeeded).map((effect) => ({ ...effect, runId: change.runId })));
    else if (change.kind === "intent") this.intents.push(change.intent);
    else if (change.kind === "mode") this.#setMode(change.row);
    else if (change.kind === "drawdown") this.drawdown = change.state;
    else if (change.kind === "alert") this.#listener.alert(change.alert);
    else if (change.kind === "alerts-over") this.#listener.alertsOver(change.subject);
  }

  #amend(id: string, fields: Partial<StrategyRow>): void {
    this.strategies.set(id, { ...this.strategy(id), ...fields });
  }

  #begin(run: Run): void {
    this.runs.set(run.id, run);
    this.due.push(run);
    this.#listener.moved(run);
  }

  #setMode(row: ModeRow): void {
    this.modes.set(row.scope, row);
    this.#listener.mode(row);
  }

  #move(run: Run, before: Run, atMs: number): void {
    this.runs.set(run.id, run);
    if (isRunEnd(before.state)) return;
    const { strategyId, reason = "" } = run;
    if (run.state === "failed") this.failures.push({ strategyId, reason, atMs });
    this.#listener.moved(run);
  }

  #record(run: Run, record: RunRecord, atMs: number): void {
    const { ledger } = this;
    if (record.kind === "memory") this.#amend(run.strategyId, { memory: record.memory });
    else if (record.kind === "reserve") ledger.reserve(swapOf(run, record.swapId), run.strategyId, record.amount);
    else if (record.kind === "value") ledger.value(record.swapId, record.usd);
    else if (record.kind === "release") ledger.release(record.swapId);
    else if (record.kind === "prices") this.prices.set(record.swapId, record.prices);
    else if (record.kind === "spend") {
      const swap = swapOf(run, record.swapId);
      const { fill } = swap;
      if (fill === undefined) throw new Error(`swap ${swap.id} is spent without a fill`);
      ledger.spend(swap, fill, atMs);
      this.#listener.filled({ run, swap, fill, prices: this.prices.get(swap.id), atMs });
    }
  }
}

/** Routes are kept for people alone. */
const isNeeded = ({ effect }: EffectRequest): boolean => effect.kind !== "FetchRoute";

function readersOf(rows: Rows, bars: Bars): Readers {
  const slots = (strategyIds: readonly string[]) => ({
    lastSlots: new Map(
      strategyIds.flatMap((id) => {
        const row = rows.strategies.get(id);
        return row === undefined ? [] : [[id, row.lastSlotMs] as const];
      }),
    ),
    ...{ endedAhead: new Map(), modes: [...rows.modes.values()], busy: rows.busy() },
    ...{ differences: [], accepted: new Map(), sameEnds: new Map(), warnings: [] },
  });
  const modes = (id: string) => ({ global: rows.modes.get(GLOBAL_SCOPE), own: rows.modes.get(id) });
  return {
    nothing: () => undefined,
    slots: ({ strategyIds }) => slots(strategyIds),
    editions: ({ strategyIds }) => ({ ...slots(strategyIds), rows: rows.strategies, gone: new Set() }),
    strategy: ({ strategyId }) => {
      const strategy = rows.strategies.get(strategyId);
      return { strategy, modes: modes(strategyId), differences: [], spec: strategy?.spec };
    },
    "view-start": ({ strategyId }) => ({ strategy: rows.strategy(strategyId), ledgerVersion: 0, newestBlock: 0 }),
    view: (asked) => viewRows(rows, bars, asked),
    "newest-block": () => 0,
    traded: ({ wallet, buy }) => ({ lastFreed: undefined, hasBought: rows.ledger.hasBought(wallet, buy) }),
    "idle-grants": () => [],
    drawdown: ({ wallets, tokens }) => ({
      ...{ version: 0, state: rows.drawdown, mode: rows.modes.get(GLOBAL_SCOPE), proposed: [] },
      nets: new Map(
        tokens.map((token) => [token, wallets.reduce((sum, wallet) => sum + rows.ledger.netOf(wallet, token), 0n)]),
      ),
    }),
    step: ({ runId, event, of }) => {
      const run = rows.run(runId);
      return { run, ...stepRows(rows, run, { event, of }), modes: modes(run.strategyId) };
    },
  };
}

function viewRows({ ledger }: Rows, bars: Bars, asked: Question<"view">): Answered<"view"> {
  const { strategyId, wallet, tokens } = asked;
  return {
    ledgerVersion: 0,
    reserved: new Map(tokens.map((token) => [token, ledger.reserved(wallet, token)])),
    net: new Map(tokens.map((token) => [token, ledger.netOf(wallet, token)])),
    ...{ sold: ledger.soldBy(strategyId), bought: ledger.boughtBy(strategyId) },
    bars: new Map(asked.bars.map(({ token, sinceMs }) => [token, bars(token, sinceMs)])),
    soldSince: asked.soldSinceMs.map((sinceMs) => ledger.soldBySince(strategyId, sinceMs)),
    tradedRuns: ledger.tradedRuns(strategyId),
  };
}

function stepRows(
  rows: Rows,
  run: Run,
  { event, of }: { readonly event: RunEvent; readonly of: StepQuestion },
): Omit<StepRows, "modes"> {
  const { strategyId } = run;
  const { spec, memory } = rows.strategy(strategyId);
  const { sinceMs, except } = of.failures;
  while ((rows.failures[0]?.atMs ?? sinceMs) < sinceMs) rows.failures.shift();
  const failures = rows.failures.filter((one) => one.strategyId === strategyId && !except.includes(one.reason));
  return {
    ...{ spec, memory, failures: failures.length },
    ledger: event.kind === "facts-read" ? ledgerEvidence(rows, run, { event, of }) : undefined,
    ...{ holds: [], isBarred: false, halts: [], differences: [], sameEnds: undefined, warnings: [] },
    prices: "swapId" in event ? rows.prices.get(event.swapId) : undefined,
  };
}

/** What is due of one run is done before another's, and transactions land at once: nothing of a wallet is ever open besides. */
function ledgerEvidence(
  { ledger }: Rows,
  run: Run,
  asked: { readonly event: Extract<RunEvent, { kind: "facts-read" }>; readonly of: StepQuestion },
): LedgerEvidence {
  const { event, of } = asked;
  const { swapId, reading } = event;
  const { wallet, sell } = swapOf(run, swapId);
  const { daySinceMs, monthSinceMs } = of;
  return {
    ...{ isTokenBusy: false, lastFreed: undefined, isPermitIntended: false, isNonceOfOther: false },
    spentTodayUsd: ledger.soldUsdSince(daySinceMs, swapId),
    spentMonthUsd: ledger.soldUsdSince(monthSinceMs, swapId),
    reservedByOthers: ledger.reserved(wallet, sell.address, swapId),
    budget: reading.budget?.map((span) => ({ ...span, ...ledger.soldBySince(run.strategyId, span.sinceMs, swapId) })),
  };
}
