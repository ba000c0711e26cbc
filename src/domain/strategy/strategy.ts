import type { Token } from "../money/token.ts";
import { formatTimeLeft } from "../time/format-duration.ts";
import { budgetEnd } from "./budget.ts";
import { dca } from "./dca.ts";
import type { Decision, StrategyView, ViewNeeds, WatchedHolder } from "./decision.ts";
import type { AfterRun, ClosedNow, MostSold, RunEnd, StrategyKind, TradedTokens } from "./kind.ts";
import { rebalance } from "./rebalance.ts";
import type { StrategySpec } from "./spec.ts";
import { sweepKind } from "./sweep.ts";
import { threshold } from "./threshold.ts";
import { twap } from "./twap.ts";
import { valueAveraging } from "./value-averaging.ts";

/** Memory of any kind: plain JSON, as it is stored. */
export type StrategyMemory = unknown;

/** A strategy bound to its kind. Memory goes in and out as JSON; what is no memory of the kind is refused loudly. */
interface BoundStrategy {
  reads(memory: StrategyMemory): boolean;
  initialMemory(): StrategyMemory;
  readonly remembersPlan: boolean;
  needs(memory: StrategyMemory): ViewNeeds;
  trades(): TradedTokens;
  manages(): readonly Token[];
  isExit(): boolean;
  lastResortGas(): bigint;
  unawareOf(): readonly string[];
  mostSold(memory: StrategyMemory, spent: StrategyView["spent"]): MostSold;
  decide(view: StrategyView, memory: StrategyMemory): Decision<StrategyMemory>;
  closedAt(prices: StrategyView["prices"]): ClosedNow | undefined;
  onRunEnded(memory: StrategyMemory, end: RunEnd): AfterRun<StrategyMemory>;
  editedFrom(before: StrategySpec, memory: StrategyMemory): StrategyMemory;
}

/** The one place that knows all kinds. A new kind is a file of its own, a line here and one in `StrategySpec`. */
function bindStrategy(spec: StrategySpec): BoundStrategy {
  switch (spec.kind) {
    case "dca":
      return bindKind(dca, spec);
    case "rebalance":
      return bindKind(rebalance, spec);
    case "threshold":
      return bindKind(threshold, spec);
    case "sweep":
      return bindKind(sweepKind, spec);
    case "twap":
      return bindKind(twap, spec);
    case "value-averaging":
      return bindKind(valueAveraging, spec);
  }
}

function bindKind<Spec extends StrategySpec, Memory>(kind: StrategyKind<Spec, Memory>, spec: Spec): BoundStrategy {
  const read = (json: StrategyMemory): Memory => {
    const memory = kind.parseMemory(json);
    if (memory !== undefined) return memory;
    throw new Error(
      `the stored memory of strategy "${spec.id}" is none of a ${spec.kind} strategy: was its kind changed?`,
    );
  };
  const isSameKind = (other: StrategySpec): other is Spec => other.kind === spec.kind;
  return {
    initialMemory: () => kind.initialMemory(spec),
    remembersPlan: kind.remembersPlan === true,
    needs: (memory) => kind.needs(spec, read(memory)),
    trades: () => kind.trades(spec),
    manages: () => kind.manages?.(spec) ?? [],
    isExit: () => kind.isExit(spec),
    lastResortGas: () => kind.lastResortGas?.(spec) ?? 0n,
    unawareOf: () => kind.unawareOf?.(spec) ?? [],
    mostSold: (memory, spent) => kind.mostSold?.(spec, read(memory), spent) ?? {},
    reads: (memory) => kind.parseMemory(memory) !== undefined,
    decide: (view, memory) => endedByBudget(spec, view, memory) ?? kind.decide(spec, view, read(memory)),
    closedAt: (prices) => kind.closedAt?.(spec, prices),
    onRunEnded: (memory, end) => kind.onRunEnded(spec, read(memory), end),
    editedFrom: (before, memory) =>
      isSameKind(before) ? kind.onEdited(before, spec, read(memory)) : kind.initialMemory(spec),
  };
}

/** The same for all kinds: after its last day, or its last run, a strategy stops itself. */
function endedByBudget(
  { budget }: StrategySpec,
  view: StrategyView,
  memory: StrategyMemory,
): Decision<StrategyMemory> | undefined {
  const end = budgetEnd(budget, { slotMs: view.slotMs, nowMs: view.nowMs, runs: view.budget?.runs });
  if (end === undefined) return undefined;
  return { memory, outcome: { kind: "skip", reason: "ended", detail: end.detail }, pause: end.pause };
}

/** The memory of a strategy that has never decided. */
export function initialStrategyMemory(spec: StrategySpec): StrategyMemory {
  return bindStrategy(spec).initialMemory();
}

/** Whether stored memory is one of the strategy's kind that this release knows. */
export function isMemoryOf(spec: StrategySpec, memory: StrategyMemory): boolean {
  return bindStrategy(spec).reads(memory);
}

/**
 * What has to be read before the strategy can decide; each token once.
 * @throws Error when the stored memory is none of the strategy's kind
 */
export function strategyNeeds(spec: StrategySpec, memory: StrategyMemory): ViewNeeds {
  const needs = bindStrategy(spec).needs(memory);
  return { ...needs, tokens: eachOnce([...needs.tokens, ...needs.bars.map((bars) => bars.token)]) };
}

function eachOnce(tokens: readonly Token[]): readonly Token[] {
  return [...new Map(tokens.map((token) => [token.address, token])).values()];
}

/** What the strategy may ever sell, and what it may ever buy; each token once. */
export function tradedSides(spec: StrategySpec): TradedTokens {
  const { sells, buys } = bindStrategy(spec).trades();
  return { sells: eachOnce(sells), buys: eachOnce(buys) };
}

/** All tokens that the strategy trades, each once. */
export function tradedTokens(spec: StrategySpec): readonly Token[] {
  const { sells, buys } = tradedSides(spec);
  return eachOnce([...sells, ...buys]);
}

/** Tokens of its wallet that the strategy holds at weights. */
export function managedTokens(spec: StrategySpec): readonly Token[] {
  return eachOnce(bindStrategy(spec).manages());
}

/** Addresses besides its wallet whose balances a strategy counts. */
export function watchedHolders(spec: StrategySpec): readonly WatchedHolder[] {
  return strategyNeeds(spec, initialStrategyMemory(spec)).external ?? [];
}

/** Whether all a strategy ever does is to leave a position. */
export function isExitStrategy(spec: StrategySpec): boolean {
  return bindStrategy(spec).isExit();
}

/** Native coin in wei that all other strategies of the wallet leave for this one. */
export function lastResortGasOf(spec: StrategySpec): bigint {
  return bindStrategy(spec).lastResortGas();
}

/**
 * The most that the strategy sells from now on by its own settings.
 * @param spent what it sold so far, open swaps included, by token
 * @throws Error when the stored memory is none of the strategy's kind
 */
export function mostSoldBy(spec: StrategySpec, memory: StrategyMemory, spent: StrategyView["spent"]): MostSold {
  return bindStrategy(spec).mostSold(memory, spent);
}

/**
 * Decides for one slot. Pure: the same settings, view and memory give the same decision.
 * @throws Error when the stored memory is none of the strategy's kind
 */
export function decideStrategy(
  spec: StrategySpec,
  view: StrategyView,
  memory: StrategyMemory,
): Decision<StrategyMemory> {
  return bindStrategy(spec).decide(view, memory);
}

/** Why the strategy signs nothing of what it decided: its end is over, or these prices speak against it; undefined: it does. */
export function closedNow(
  spec: StrategySpec,
  memory: StrategyMemory,
  { prices, nowMs }: Pick<StrategyView, "prices" | "nowMs">,
): ClosedNow | undefined {
  const strategy = bindStrategy(spec);
  const planned = strategy.reads(memory) ? strategy.mostSold(memory, new Map()).untilMs : undefined;
  const endMs = Math.min(...[planned, spec.budget?.untilMs].map((ms) => ms ?? Number.POSITIVE_INFINITY));
  if (nowMs <= endMs) return strategy.closedAt(prices);
  return { reason: "ended", detail: `its end lies ${formatTimeLeft(nowMs - endMs)} before this check`, forGood: true };
}

/** Whether a strategy's memory says how far its plan has come: then a decision of a dry run leaves it as it was. */
export function remembersPlan(spec: StrategySpec): boolean {
  return bindStrategy(spec).remembersPlan;
}

/**
 * The memory after a run that the strategy started has ended; to be stored in the same transaction as the end.
 * @throws Error when the stored memory is none of the strategy's kind
 */
export function strategyRunEnded(spec: StrategySpec, memory: StrategyMemory, end: RunEnd): AfterRun<StrategyMemory> {
  return bindStrategy(spec).onRunEnded(memory, end);
}

/**
 * The memory that an edited strategy goes on with. One that became another kind begins anew.
 * @throws Error when the stored memory is none of the strategy's kind
 */
export function strategyEdited(before: StrategySpec, after: StrategySpec, memory: StrategyMemory): StrategyMemory {
  return bindStrategy(after).editedFrom(before, memory);
}

/** What of a strategy's own limits and memory knows nothing of what a person accepts as sold by it, for people. */
export function unawareOfAccepted(spec: StrategySpec): readonly string[] {
  const { budget } = spec;
  return [
    ...(budget?.inDollars === true ? ["its budget in dollars"] : []),
    ...(budget?.maxRuns === undefined ? [] : ["budget.max_runs"]),
    ...bindStrategy(spec).unawareOf(),
  ];
}
