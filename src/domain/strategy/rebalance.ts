import { formatAmount } from "../money/amount.ts";
import { larger, smaller } from "../money/bigint.ts";
import { ONE_PPM } from "../money/fraction.ts";
import { isNative, type Token } from "../money/token.ts";
import { type BudgetLeft, budgetObstacle, type Plannable, plannedDollars, tightest } from "./budget.ts";
import { isSameWallet } from "./common.ts";
import type { Decision, SkipReason, StrategyView } from "./decision.ts";
import type { StrategyKind, TradedTokens } from "./kind.ts";
import { plannedTrade } from "./largest-trade.ts";
import { checkBands, reasonToWait } from "./rebalance-bands.ts";
import { rebalanceEnded } from "./rebalance-end.ts";
import { legsOf } from "./rebalance-legs.ts";
import {
  NO_MEMORY,
  parseRebalanceMemory,
  type RebalanceMemory,
  type RunNote,
  rawIn,
  turnoverOfDay,
  withoutFuture,
  withRaw,
} from "./rebalance-memory.ts";
import { beyondReach, describeWeights, type Mix, otherForms, tokensOf, weigh } from "./rebalance-mix.ts";
import { noteDeposits } from "./rebalance-money.ts";
import { type Plan, type PlanLimits, planNewMoney, planToDestination } from "./rebalance-plan.ts";
import type { RebalanceSpec } from "./rebalance-spec.ts";

type RebalanceDecision = Decision<RebalanceMemory>;

/**
 * Checks the mix in one snapshot at reference prices. When a weight has left its band, confirmed and cooled down, the
 * largest overweight is swapped into the largest underweight until the destination is reached. Proceeds that an earlier
 * run left unspent come first, and new money is put to work without selling anything else. Without a price for every
 * token nothing is done.
 */
function decide(spec: RebalanceSpec, view: StrategyView, before: RebalanceMemory): RebalanceDecision {
  const mix = weigh(spec, view);
  if ("unpriced" in mix) {
    return putOff(spec, before, "unpriceable", `no reference price for ${mix.unpriced.join(", ")}`);
  }
  if ((spec.external?.watched.length ?? 0) > 0 && view.external === undefined) {
    return putOff(spec, before, "unpriceable", "what lies at the external addresses was not read");
  }
  const { memory, decision } = decideOwed(spec, view, withoutFuture(before, view.nowMs));
  if (decision !== undefined) return decision;
  if (mix.there === 0n) {
    const besides = spec.cash === undefined ? "" : ", besides cash.min";
    return skip(memory, "insufficient_balance", `none of the tokens of the mix has a free balance${besides}`);
  }
  return decideMix(spec, { view, mix }, noteDeposits(spec, view, memory, mix));
}

/**
 * Proceeds that found no buy are spent before anything else; what of them is gone or has no use left is forgotten. What
 * other swaps hold of them for the moment is neither: it is waited for, or the mix would sell again for the same buys.
 */
function decideOwed(
  spec: RebalanceSpec,
  view: StrategyView,
  memory: RebalanceMemory,
): { memory: RebalanceMemory; decision: RebalanceDecision | undefined } {
  const token = tokensOf(spec).find(({ address }) => rawIn(memory.owed, address) > 0n);
  if (token === undefined) return { memory, decision: undefined };
  const free = view.free.get(token.address) ?? 0n;
  // the gas reserve is part of the balance and never free: of the coin what is not free counts as gone
  const balance = isNative(token) ? free : (view.balances.get(token.address) ?? free);
  const there = smaller(rawIn(memory.owed, token.address), balance);
  const raw = smaller(there, free);
  const known = { ...memory, owed: withRaw(memory.owed, token.address, there) };
  const decision = spendOwed(spec, view, known, { token, raw, isCut: raw < there });
  if (decision !== undefined) return { memory: known, decision };
  const held = there - raw;
  const released = { ...view, free: new Map(view.free).set(token.address, free + held) };
  if (held > 0n && spendOwed(spec, released, known, { token, raw: there, isCut: false }) !== undefined) {
    const [all, part] = [there, held].map((amount) => formatAmount({ token, raw: amount }));
    const detail = `${all} that sells brought wait for buys, other swaps hold ${part} of them`;
    return { memory: known, decision: putOff(spec, known, "insufficient_balance", detail) };
  }
  return decideOwed(spec, view, { ...memory, owed: withRaw(memory.owed, token.address, 0n) });
}

/** The buys that proceeds are spent on; undefined when they are of no use. */
function spendOwed(
  spec: RebalanceSpec,
  view: StrategyView,
  memory: RebalanceMemory,
  { token, raw, isCut }: { token: Token; raw: bigint; isCut: boolean },
): RebalanceDecision | undefined {
  const mix = weigh(spec, view, { token, raw });
  if ("unpriced" in mix) return undefined;
  const { ofOneToken } = limitsOf(spec, mix, { memory, view });
  const budget = tightest(view.budget?.counts ?? [], "USD");
  const limits = { turnover: budget && plannedDollars(budget.left), ofOneToken };
  const halved = { ...mix, minValue: mix.minValue / 2n + 1n };
  const plan = planNewMoney(halved, (address) => (address === token.address ? raw : 0n), limits);
  if (plan.isTurnoverSpent && budget !== undefined) {
    return overBudget(memory, { ...budget, plannable: { usd: plannedDollars(budget.left) } }, halved);
  }
  return trade(spec, { view, mix: halved }, memory, {
    plan: { ...plan, isCut: plan.isCut || isCut },
    purpose: "owed",
  });
}

interface Seen {
  readonly view: StrategyView;
  readonly mix: Mix;
}

function decideMix(spec: RebalanceSpec, seen: Seen, before: RebalanceMemory): RebalanceDecision {
  const { view, mix } = seen;
  const { bands } = spec;
  const checked = bands === "none" ? before : { ...before, ...checkBands(bands, mix, before, view.nowMs) };
  const limits = limitsOf(spec, mix, { memory: checked, view });
  const waitOf = (memory: RebalanceMemory) =>
    bands === "none" || memory.isConverging ? undefined : reasonToWait(bands, memory, view.nowMs);
  let memory = checked;
  if (waitOf(checked) === undefined) {
    const plan = planToDestination(spec, mix, limits);
    const decision = trade(spec, seen, checked, { plan, purpose: "mix" });
    if (decision !== undefined) return decision;
    if (plan.isTurnoverSpent && limits.budget !== undefined) return overBudget(checked, limits.budget, mix);
    if (plan.isTurnoverSpent) return overTurnover(checked, limits, mix);
    if (checked.isConverging) memory = { ...checked, isConverging: false, doneMs: view.nowMs };
  }
  const why: { reason: SkipReason; detail: string } = waitOf(memory) ?? tooSmall(mix, limits);
  const plan = planNewMoney(mix, (address) => rawIn(memory.fresh, address), limits);
  const deposit = trade(spec, seen, memory, { plan, purpose: "deposit" });
  return deposit ?? skip(memory, why.reason, `${why.detail}${describeWeights(mix)}`);
}

function tooSmall(mix: Mix, { ofOneToken }: PlanLimits): { reason: SkipReason; detail: string } {
  const isNeverReached = ofOneToken !== undefined && ofOneToken < mix.minValue;
  const policy = isNeverReached ? "trades.min is more than the policy's max_trade lets through; " : "";
  const elsewhere = beyondReach(mix);
  const lies = elsewhere.length === 0 ? "" : `what is too much of ${elsewhere.join(", ")} is not here to be sold; `;
  return { reason: "below_minimum_trade", detail: `${policy}${lies}` };
}

/** With what is left of the budget, where that bounds the run rather than the turnover. */
interface RunLimits extends PlanLimits {
  readonly budget: PlannedBudget | undefined;
  /** not even a turnover of which nothing is used lets the smallest trade through */
  readonly isTurnoverTooSmall: boolean;
}

type PlannedBudget = BudgetLeft & { readonly plannable: Plannable };

/** What may be moved in this run: the owner's largest trade, and what is left of the turnover and of the budget. */
function limitsOf(
  spec: RebalanceSpec,
  mix: Mix,
  { memory, view }: { memory: RebalanceMemory; view: StrategyView },
): RunLimits {
  const { maxUsd, maxTurnover, via } = spec.trades;
  const { perDay, perRun } = maxTurnover;
  const leftOfDay = perDay === undefined ? undefined : perDay - turnoverOfDay(memory, view.nowMs);
  const turnover = smallestShare(mix, [leftOfDay, perRun]);
  const ofWhole = smallestShare(mix, [perDay, perRun]);
  const budget = tightest(view.budget?.counts ?? [], "USD");
  // Over another token the same value is sold twice, and both sales count.
  const inBudget = budget && plannedDollars(budget.left) / (via === undefined ? 1n : 2n);
  const isTighter = inBudget !== undefined && (turnover === undefined || inBudget < turnover);
  return {
    turnover: isTighter ? inBudget : turnover,
    budget: isTighter && budget ? { ...budget, plannable: { usd: inBudget, over: via } } : undefined,
    isTurnoverTooSmall: ofWhole !== undefined && ofWhole < mix.minValue,
    ofOneToken: maxUsd === undefined ? undefined : plannedTrade(maxUsd),
  };
}

/** Dollars (1e-18) of the smallest of some shares of what is there; undefined without any. */
function smallestShare({ there }: Mix, bounds: readonly (bigint | undefined)[]): bigint | undefined {
  const shares = bounds.filter((share) => share !== undefined);
  const [first] = shares;
  return first === undefined ? undefined : (there * larger(shares.reduce(smaller, first), 0n)) / ONE_PPM;
}

/** Not even one trade fits into what is left of the turnover, or into all of it: then no later slot brings one. */
function overTurnover(memory: RebalanceMemory, { isTurnoverTooSmall }: RunLimits, mix: Mix): RebalanceDecision {
  const weights = describeWeights(mix);
  if (!isTurnoverTooSmall) return skip(memory, "turnover_spent", weights);
  return skip(memory, "below_minimum_trade", `trades.min is more than max_turnover lets through; ${weights}`);
}

/** Not even one trade fits into what is left of the budget; of a budget for all its life nothing more ever will. */
function overBudget(memory: RebalanceMemory, budget: PlannedBudget, mix: Mix): RebalanceDecision {
  const { reason, detail } = budgetObstacle(budget, { least: mix.minValue, plannable: budget.plannable }, "USD");
  const outcome = { kind: "skip", reason, detail: `${detail}; ${describeWeights(mix)}` } as const;
  return { memory, outcome, pause: reason === "budget_spent" ? { code: "completed", detail } : undefined };
}

/** The decision to swap, with what the run's end has to be understood by; undefined when nothing is large enough. */
function trade(
  spec: RebalanceSpec,
  { view, mix }: Seen,
  memory: RebalanceMemory,
  wanted: { plan: Plan; purpose: RunNote["purpose"] },
): RebalanceDecision | undefined {
  const { plan, purpose } = wanted;
  const { swaps, notes, hole, least } = legsOf(spec, mix, plan.moves);
  if (swaps.length === 0) return undefined;
  const legs = purpose === "owed" ? notes.map((note) => ({ ...note, turnover: 0 })) : notes;
  const run = { slotMs: view.slotMs, purpose, isCut: plan.isCut, legs, hole: hole.toString(), least: least.toString() };
  // What a person cannot see in the wallet is why it is as much as it is.
  const isAllHere = mix.positions.every(({ apart }) => apart.length === 0);
  const detail = isAllHere ? {} : { detail: describeWeights(mix) };
  return { memory: { ...memory, run }, outcome: { kind: "swap", swaps, ...detail } };
}

/** A calendar may have its next slot in weeks, so the question is put off; bands are checked again soon anyway. */
function putOff(spec: RebalanceSpec, memory: RebalanceMemory, reason: SkipReason, detail: string): RebalanceDecision {
  const kind = spec.bands === "none" ? "defer" : "skip";
  return { memory, outcome: { kind, reason, detail } };
}

function skip(memory: RebalanceMemory, reason: SkipReason, detail: string): RebalanceDecision {
  return { memory, outcome: { kind: "skip", reason, detail } };
}

/**
 * Confirmations of other bands, targets or external holdings say nothing of the new ones. Deposits that wait are forgotten with their
 * token; what is owed in one is not, because a token may come back. All that is remembered is of one wallet's mix, so
 * another one's begins anew.
 */
function onEdited(before: RebalanceSpec, after: RebalanceSpec, memory: RebalanceMemory): RebalanceMemory {
  if (!isSameWallet(before, after)) return NO_MEMORY;
  const known = new Set<string>(tokensOf(after).map(({ address }) => address));
  const keep = (amounts: RebalanceMemory["fresh"]): RebalanceMemory["fresh"] =>
    Object.fromEntries(Object.entries(amounts).filter(([address]) => known.has(address)));
  const kept = { ...memory, outside: keep(memory.outside), fresh: keep(memory.fresh) };
  if (text(weighedBy(before)) === text(weighedBy(after))) return kept;
  return { ...kept, softSinceMs: undefined, hardSinceMs: undefined, isConverging: false };
}

function weighedBy({ targets, bands, external }: RebalanceSpec): readonly unknown[] {
  return [targets, bands, external];
}

function text(part: unknown): string {
  return JSON.stringify(part, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}

/** A mix trades each of its tokens both ways, and the one that its swaps go over; what leaves the mix is only sold. */
function trades({ targets, trades: { via } }: RebalanceSpec): TradedTokens {
  const over = via === undefined ? [] : [via];
  const kept = targets.filter(({ exit }) => !exit).map(({ token }) => token);
  return { sells: [...targets.map(({ token }) => token), ...over], buys: [...kept, ...over] };
}

/** Keeps a mix of tokens at target weights. */
export const rebalance: StrategyKind<RebalanceSpec, RebalanceMemory> = {
  initialMemory: () => NO_MEMORY,
  parseMemory: parseRebalanceMemory,
  needs: (spec) => ({
    ...{ tokens: [...tokensOf(spec), ...otherForms(spec)], bars: [], flows: spec.onDeposit === "buy-underweight" },
    external: spec.external?.watched,
  }),
  trades,
  manages: ({ targets }) => targets.map(({ token }) => token),
  isExit: () => false,
  unawareOf: ({ bands, trades: { maxTurnover }, onDeposit }) => [
    ...(maxTurnover.perDay === undefined ? [] : ["max_turnover.per_day"]),
    ...(bands === "none" || bands.soft.cooldownSeconds === 0 ? [] : ["cooldown"]),
    ...(onDeposit === "ignore" ? [] : ["on_deposit, to which what was bought is a deposit"]),
  ],
  // each side of a pair is settled by fewer swaps than tokens, twice where all of them go over one more
  mostSold: ({ targets, trades: { via } }) => ({ swaps: (targets.length - 1) * (via === undefined ? 1 : 2) }),
  decide,
  onRunEnded: rebalanceEnded,
  onEdited,
};
