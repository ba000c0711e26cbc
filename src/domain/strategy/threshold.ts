import { formatAmount } from "../money/amount.ts";
import type { Token } from "../money/token.ts";
import { formatTimeLeft } from "../time/format-duration.ts";
import { type BudgetLeft, budgetObstacle, tightest } from "./budget.ts";
import { nextQuestionMs } from "./common.ts";
import type { Decision, SkipReason, StrategyView } from "./decision.ts";
import type { AfterRun, RunEnd, StrategyKind } from "./kind.ts";
import { allOf } from "./own-gas.ts";
import { readPairPrice } from "./pair-price.ts";
import { editThresholdMemory, ended, hasTradedEnough } from "./threshold-edit.ts";
import { type Observed, observeLeg } from "./threshold-leg.ts";
import {
  ARMED,
  isOver,
  type LegMemory,
  type LegState,
  legOf,
  parseThresholdMemory,
  type ThresholdMemory,
  withAccepted,
} from "./threshold-memory.ts";
import { describeNoSale, floorOf, isTooLittleForAll, mostSold, sizeSale } from "./threshold-sale.ts";
import type { ThresholdLeg, ThresholdSpec } from "./threshold-spec.ts";

/** What the guard says when no quote reaches the floor. */
const FLOOR_UNMET = "PRICE_LIMIT_NOT_MET";

/** A trigger that fired and is not filled after so many attempts in a row is a matter for a person. */
const ALERT_AFTER = 3;

/** What a swap ends with where nothing may be signed. */
const DRY_RUN = "dry_run";

/** Of the reasons of several legs the one that says most comes first. */
const DESCRIBED_FIRST: readonly SkipReason[] = [
  "backing_off",
  "confirming",
  "cooling_down",
  "not_armed",
  "not_activated",
  "not_triggered",
];

type Leg = { readonly leg: ThresholdLeg; readonly seen: Observed };

function decide(spec: ThresholdSpec, view: StrategyView, before: ThresholdMemory): Decision<ThresholdMemory> {
  const memory = withAccepted(before, view.accepted?.get(spec.sell.address) ?? 0n);
  const skip = (reason: SkipReason, detail: string, next: ThresholdMemory = memory) =>
    ({ memory: next, outcome: { kind: "skip", reason, detail } }) as const;
  if (spec.legs.every(({ id }) => isOver(legOf(memory, id).at))) {
    const pause = { code: "completed", detail: "every trigger has fired or was cancelled" } as const;
    return { ...skip("already_fired", "it traded, and no trigger is armed again"), pause };
  }
  if (spec.legs.some(({ id }) => legOf(memory, id).at.state === "fired"))
    return skip("already_fired", "the run it started has not ended yet");
  if (spec.untilMs !== undefined && view.nowMs > spec.untilMs) {
    const detail = `its end lies ${formatTimeLeft(view.nowMs - spec.untilMs)} before this check`;
    return { ...skip("ended", detail), pause: { code: "completed", detail } };
  }
  const price = readPairPrice(spec, view.prices);
  if (price === undefined) {
    const detail = `no reference price for ${spec.watch.symbol} in ${spec.quote.symbol}`;
    const untilMs = nextQuestionMs(spec, view.nowMs);
    return { memory, outcome: { kind: "defer", reason: "unpriceable", detail, untilMs } };
  }
  const { maxGapSeconds, quote } = spec;
  const legs = spec.legs.map((leg) => {
    const { gone, ...known } = legOf(memory, leg.id);
    const sample = { nowMs: view.nowMs, price, beforeMs: gone?.seenMs ?? memory.seenMs, maxGapSeconds, quote };
    return { leg, seen: observeLeg(leg, known, sample) };
  });
  const sampled = {
    ...memory,
    seenMs: view.nowMs,
    legs: { ...memory.legs, ...Object.fromEntries(legs.map(({ leg, seen }) => [leg.id, seen.memory])) },
  };
  const latched = legs.find(({ seen }) => isRetrying(seen.memory.at));
  const wanting = (latched === undefined ? legs : [latched]).filter(({ seen }) => seen.wants);
  const decisions = wanting.map((leg) => fire(spec, view, { memory: sampled, ...leg }));
  // a leg with too little to sell does not stand in the way of the next one
  const [first] = decisions;
  return decisions.find(({ outcome }) => outcome.kind === "swap") ?? first ?? skip(...describe(legs), sampled);
}

/** After a failed attempt the crossing keeps its latch for as long as the condition holds. */
function isRetrying(at: LegState): boolean {
  return at.state === "armed" && at.failures + at.unmet > 0;
}

function describe(legs: readonly Leg[]): [SkipReason, string] {
  const live = legs.filter(({ seen }) => seen.reason !== "already_fired");
  const reason = DESCRIBED_FIRST.find((one) => live.some(({ seen }) => seen.reason === one)) ?? "not_triggered";
  const detail = live.map(({ leg, seen }) => (legs.length === 1 ? seen.detail : `${leg.id}: ${seen.detail}`));
  return [reason, detail.join("; ")];
}

/** A crossing with too little balance does not fire: nothing was sold, so the trigger stays as it is. */
function fire(
  spec: ThresholdSpec,
  view: StrategyView,
  from: { memory: ThresholdMemory } & Leg,
): Decision<ThresholdMemory> {
  const { leg, seen, memory } = from;
  const token = spec.sell;
  const free = view.free.get(token.address) ?? 0n;
  const sale = sizeSale(spec, leg, { free, all: allOf(view, token), memory });
  if ("lacks" in sale) {
    const isSpent = sale.lacks === "allocation" && isTooLittleForAll(spec, memory, sale.left);
    return unsold(leg, memory, { ...describeNoSale(sale, { token, free }), isSpent });
  }
  const budget = tightest(view.budget?.counts ?? [], token);
  const least = "raw" in leg.amount ? sale.raw : (spec.minFill ?? 1n);
  if (sale.raw < least) return tooSmall(leg, memory, { token, raw: sale.raw, least });
  const isOverBudget = budget !== undefined && budget.left < sale.raw;
  if (isOverBudget && budget.left < least) return overBudget(spec, leg, { memory, budget, raw: sale.raw, least });
  const raw = isOverBudget ? budget.left : sale.raw;
  const attempts = seen.memory.at.state === "armed" ? seen.memory.at : { failures: 0, unmet: 0 };
  const at = { ...attempts, state: "fired", slotMs: view.slotMs, triedMs: view.nowMs } as const;
  const fired: LegMemory = { ...seen.memory, at };
  const floor = floorOf(spec, leg, seen.memory);
  const swap = { sell: token, buy: spec.buy, amount: { kind: "fixed", raw } } as const;
  const after = withLeg(memory, leg.id, fired);
  return {
    memory: spec.allocation === "free" ? { ...after, allocation: String(sale.allocation) } : after,
    outcome: {
      kind: "swap",
      swaps: [floor === undefined ? swap : { ...swap, floor }],
      detail: `"${leg.id}" fires: ${seen.detail}`,
    },
  };
}

/** The trigger stays as it is. Once less than any leg would sell is left for all its life, the strategy is over. */
function unsold(
  { id }: ThresholdLeg,
  memory: ThresholdMemory,
  why: { readonly reason: SkipReason; readonly detail: string; readonly isSpent?: boolean },
): Decision<ThresholdMemory> {
  const { reason, detail, isSpent = false } = why;
  const outcome = { kind: "skip", reason, detail: `"${id}" is triggered, but ${detail}` } as const;
  return { memory, outcome, pause: isSpent ? { code: "completed", detail } : undefined };
}

function tooSmall(
  leg: ThresholdLeg,
  memory: ThresholdMemory,
  { token, raw, least }: { readonly token: Token; readonly raw: bigint; readonly least: bigint },
): Decision<ThresholdMemory> {
  const [sale, bound] = [raw, least].map((amount) => formatAmount({ token, raw: amount }));
  return unsold(leg, memory, { reason: "below_minimum_trade", detail: `would sell ${sale}, and min_fill is ${bound}` });
}

function overBudget(
  spec: ThresholdSpec,
  leg: ThresholdLeg,
  { memory, budget, raw, least }: { memory: ThresholdMemory; budget: BudgetLeft; raw: bigint; least: bigint },
): Decision<ThresholdMemory> {
  const isCut = "share" in leg.amount && budget.left > 0n;
  const obstacle = budgetObstacle(budget, isCut ? { least } : { wanted: raw }, spec.sell);
  const isSpent = obstacle.reason === "budget_spent" && isTooLittleForAll(spec, memory, budget.left);
  return unsold(leg, memory, { ...obstacle, isSpent });
}

function withLeg(memory: ThresholdMemory, id: string, leg: LegMemory): ThresholdMemory {
  return { ...memory, legs: { ...memory.legs, [id]: leg } };
}

/**
 * A run that bought something consumes the crossing. One that bought nothing leaves the trigger latched: it fires again at
 * a later slot while the condition is still true. What signed nothing may be tried for ever, less and less often; what was
 * signed a number of times at most, because it costs gas; an unmet floor is no failure, because a price limit may wait, and
 * a dry run neither: it fires at each check, as a swap would be tried at it, and leaves a live run all its attempts and
 * steps.
 */
function onRunEnded(spec: ThresholdSpec, memory: ThresholdMemory, end: RunEnd): AfterRun<ThresholdMemory> {
  const id = Object.keys(memory.legs).find((one) => legOf(memory, one).at.state === "fired");
  const leg = spec.legs.find((one) => one.id === id);
  if (id === undefined) return { memory };
  const sold = BigInt(memory.sold) + end.swaps.reduce((sum, swap) => sum + swap.sold, 0n);
  const counted = { ...memory, seenMs: end.nowMs, sold: sold.toString() };
  // an edit took the leg out while its run was open: when it is put back it has traded, or is armed as before
  if (leg === undefined) return { memory: withLeg(counted, id, afterGone(legOf(memory, id), end)) };
  if (end.filled) return afterFill(spec, counted, { leg, end });
  const before = legOf(memory, id);
  // an edit took its rearm rule away, or repetitions of it, while its run was open
  if (hasTradedEnough(leg, before.fills)) return { memory: withLeg(counted, id, ended(before)) };
  return afterNothing(spec, counted, { leg, end });
}

function afterGone(before: LegMemory, { filled, nowMs }: RunEnd): LegMemory {
  if (!filled) return { ...before, at: ARMED };
  return { ...before, fills: before.fills + 1, at: { state: "done", atMs: nowMs } };
}

type Ended = { readonly leg: ThresholdLeg; readonly end: RunEnd };

function afterFill(spec: ThresholdSpec, memory: ThresholdMemory, { leg, end }: Ended): AfterRun<ThresholdMemory> {
  const before = legOf(memory, leg.id);
  const fills = before.fills + 1;
  const { rearm } = leg;
  if (rearm !== undefined && !hasTradedEnough(leg, fills)) {
    const untilMs = end.nowMs + rearm.cooldownSeconds * 1_000;
    return { memory: withLeg(memory, leg.id, { ...before, fills, at: { state: "cooling", untilMs } }) };
  }
  const after = withLeg(memory, leg.id, { ...before, fills, at: { state: "done", atMs: end.nowMs } });
  const levels = spec.legs.filter(({ role }) => role === "level");
  const goesOn = leg.role === "level" && levels.some(({ id }) => !isOver(legOf(after, id).at));
  if (goesOn) return { memory: after };
  const detail = `"${leg.id}" traded for the last time`;
  return { memory: cancelOthers(spec, after), pause: { code: "completed", detail } };
}

function cancelOthers(spec: ThresholdSpec, memory: ThresholdMemory): ThresholdMemory {
  const open = spec.legs.filter(({ id }) => !isOver(legOf(memory, id).at));
  return open.reduce<ThresholdMemory>(
    (after, { id }) => withLeg(after, id, { ...legOf(after, id), at: { state: "cancelled" } }),
    memory,
  );
}

function afterNothing(spec: ThresholdSpec, memory: ThresholdMemory, { leg, end }: Ended): AfterRun<ThresholdMemory> {
  const before = legOf(memory, leg.id);
  if (before.at.state !== "fired") return { memory };
  const isUnmet = leg.floor !== undefined && end.swaps.some(({ reason }) => reason === FLOOR_UNMET);
  const mayWait = isUnmet || end.swaps.some(({ reason }) => reason === DRY_RUN);
  const failures = before.at.failures + (mayWait ? 0 : 1);
  const isSigned = end.swaps.some((swap) => swap.signed === true);
  const signed = (before.at.signed ?? 0) + (isSigned ? 1 : 0);
  const unmet = before.at.unmet + (isUnmet && end.dry !== true ? 1 : 0);
  const { holding, triedMs } = before.at;
  if (isSigned && signed >= spec.attempts) {
    const detail = `"${leg.id}" gives its trigger back: ${signed} signed swaps came to nothing, and the price must cross again`;
    const given = withLeg(memory, leg.id, { ...before, at: givenBack(leg, end.nowMs) });
    return { memory: given, alert: { code: "TRIGGER_GIVEN_BACK", detail } };
  }
  const at: LegState = { state: "armed", failures, signed, unmet, holding, triedMs };
  const after = withLeg(memory, leg.id, { ...before, at });
  if (!mayWait && failures === ALERT_AFTER) {
    const last = end.swaps.find(({ reason }) => reason !== undefined)?.reason ?? "no reason";
    const detail = `"${leg.id}" has fired, and ${failures} attempts in a row came to nothing, the last one with ${last}; it stays armed and is tried about once a minute while the price is there`;
    return { memory: after, alert: { code: "TRIGGER_NOT_FILLED", detail } };
  }
  // a limit may wait for its price, but a stop whose floor no quote reaches does not do its job
  if (!isUnmet || leg.trigger.kind === "limit") return { memory: after };
  const detail = `"${leg.id}" has fired, but no quote reaches its floor; it is tried again while the price is there`;
  return { memory: after, alert: { code: "FLOOR_NOT_MET", detail } };
}

/** It cost gas often enough: the price must be seen on the other side, and a level waits for its cooldown. */
function givenBack({ trigger, rearm }: ThresholdLeg, nowMs: number): LegState {
  if (trigger.kind !== "level" || rearm === undefined) return { state: "given-back" };
  return { state: "cooling", untilMs: nowMs + rearm.cooldownSeconds * 1_000 };
}

/** Swaps once a price gets somewhere: limit orders, stops, ladders of take-profits, trailing stops, and groups of them. */
export const threshold: StrategyKind<ThresholdSpec, ThresholdMemory> = {
  initialMemory: () => ({ version: 2, legs: {}, sold: "0" }),
  parseMemory: parseThresholdMemory,
  needs: (spec) => ({ tokens: [spec.sell, spec.buy], bars: [], flows: false }),
  trades: (spec) => ({ sells: [spec.sell], buys: [spec.buy] }),
  isExit: (spec) => spec.sell.address === spec.watch.address,
  unawareOf: ({ allocation }) => [
    `its triggers: a leg that sold there sells again${allocation === undefined ? "" : ", within the allocation"}`,
  ],
  mostSold,
  decide,
  onRunEnded,
  onEdited: editThresholdMemory,
};
