import { formatAmount } from "../money/amount.ts";
import type { Token } from "../money/token.ts";
import { formatTimeLeft } from "../time/format-duration.ts";
import { periodsOf, tightest } from "./budget.ts";
import { nextQuestionMs, type StrategyCommon } from "./common.ts";
import {
  afterRun,
  carryOf,
  type DcaMemory,
  emptyMemory,
  isRestTooSmall,
  parseDcaMemory,
  spentAfter,
  withOrder,
} from "./dca-memory.ts";
import { type DcaTerms, floorOf, largestOrder, sharesOf, sizeOrder } from "./dca-order.ts";
import type { Decision, SkipReason, StrategyPause, StrategyView, ViewNeeds } from "./decision.ts";
import type { AfterRun, ClosedNow, MostSold, RunEnd, StrategyKind } from "./kind.ts";
import { checkGate, type PriceGate } from "./price-gate.ts";

/** Dollar-cost averaging: sells an amount at each slot, for one token or several, until its budget or its time is over. */
export interface DcaSpec extends StrategyCommon, DcaTerms {
  readonly kind: "dca";
  /** the first instant at which it buys, Unix milliseconds */
  readonly startMs?: number | undefined;
  /** it buys only while this is open */
  readonly onlyIf?: PriceGate | undefined;
}

/**
 * One order at each slot. With a budget the last order is what remains of it; fills and reservations both count as spent,
 * so orders never add up to more than the budget.
 */
function decide(spec: DcaSpec, view: StrategyView, memory: DcaMemory): Decision<DcaMemory> {
  const { token } = spec.sell;
  const ended = endOf(spec, view, memory);
  if (ended !== undefined) {
    const { reason, detail } = ended;
    return { memory, outcome: { kind: "skip", reason, detail }, pause: ended.pause };
  }
  const gate = spec.onlyIf === undefined ? undefined : checkGate(spec.onlyIf, view.prices);
  if (gate?.open === false) {
    const reason = gate.priced ? "price_gate" : "unpriceable";
    return {
      memory,
      outcome: { kind: "defer", reason, detail: gate.detail, untilMs: nextQuestionMs(spec, view.nowMs) },
    };
  }
  const spent = view.spent.get(token.address) ?? 0n;
  const remaining = spec.budget?.total === undefined ? undefined : spec.budget.total - spent;
  const period = tightest(periodsOf(view.budget), token);
  const order = sizeOrder(spec, view, { remaining, period, carry: carryOf(memory) });
  if (order.kind !== "order") {
    const { kind, reason, detail, pause } = order;
    if (kind === "skip") return { memory, outcome: { kind, reason, detail }, pause };
    return { memory, outcome: { kind, reason, detail, untilMs: nextQuestionMs(spec, view.nowMs) } };
  }
  const swaps = order.legs.map(({ buy, own, carried }) => ({
    sell: token,
    buy,
    amount: { kind: "fixed", raw: own + carried } as const,
    floor: floorOf(spec),
  }));
  const { slotMs } = view;
  return {
    memory: withOrder(memory, { slotMs, spent, legs: order.legs, left: order.left }),
    outcome: { kind: "swap", swaps, detail: order.detail },
  };
}

/** The gate once more. Prices of tokens that the swap does not trade are not among those that it is checked with. */
function closedAt({ onlyIf }: DcaSpec, prices: StrategyView["prices"]): ClosedNow | undefined {
  const gate = onlyIf === undefined ? undefined : checkGate(onlyIf, prices);
  if (gate === undefined || gate.open || !gate.priced) return undefined;
  return { reason: "price_gate", detail: gate.detail };
}

/** Why nothing is bought at this slot whatever the market does: too early, or over. */
function endOf(
  spec: DcaSpec,
  view: StrategyView,
  memory: DcaMemory,
): { reason: SkipReason; detail: string; pause: StrategyPause | undefined } | undefined {
  const { startMs } = spec;
  if (startMs !== undefined && view.slotMs < startMs) {
    const detail = `its start lies ${formatTimeLeft(startMs - view.slotMs)} after this slot`;
    return { reason: "not_started", detail, pause: undefined };
  }
  const runsUp = runsUpOf(spec, memory);
  if (runsUp !== undefined) return { reason: "ended", detail: runsUp, pause: { code: "completed", detail: runsUp } };
  const spentUp = spentUpOf(spec, view.spent.get(spec.sell.token.address) ?? 0n);
  if (spentUp === undefined) return undefined;
  return { reason: "budget_spent", detail: spentUp, pause: { code: "completed", detail: spentUp } };
}

function runsUpOf({ budget }: DcaSpec, memory: DcaMemory): string | undefined {
  if (budget?.maxRuns === undefined || memory.runs < budget.maxRuns) return undefined;
  return `bought ${memory.runs} of ${budget.maxRuns} times`;
}

/** What says that the budget is used up: nothing is left of it, or less than the smallest order. */
function spentUpOf({ budget, sell, minSell }: DcaSpec, spent: bigint): string | undefined {
  if (budget?.total === undefined) return undefined;
  const { token } = sell;
  const left = budget.total - spent;
  if (left > 0n && left >= (minSell ?? 0n)) return undefined;
  return describeSpent(token, spent, budget.total);
}

function describeSpent(token: Token, spent: bigint, total: bigint): string {
  return `spent ${formatAmount({ token, raw: spent })} of ${formatAmount({ token, raw: total })}`;
}

/** What says that the run used the budget up, or asked for all that is left of it and was refused for its size. */
function spentUpBy(spec: DcaSpec, memory: DcaMemory, end: RunEnd): string | undefined {
  const { token } = spec.sell;
  const spent = spentAfter(memory, end, token);
  const total = spec.budget?.total;
  if (spent === undefined || total === undefined) return undefined;
  if (!isRestTooSmall(memory, end, total)) return spentUpOf(spec, spent);
  return `${describeSpent(token, spent, total)}, and the policy's min_trade is more than the rest`;
}

/** The run that used up the budget or the number of runs completes the strategy, without waiting for the next slot. */
function onRunEnded(spec: DcaSpec, memory: DcaMemory, end: RunEnd): AfterRun<DcaMemory> {
  const { token } = spec.sell;
  const next = afterRun(memory, end, { sell: token, carries: spec.carry !== undefined });
  const detail = runsUpOf(spec, next) ?? spentUpBy(spec, memory, end);
  return detail === undefined ? { memory: next } : { memory: next, pause: { code: "completed", detail } };
}

function mostSold(spec: DcaSpec, memory: DcaMemory, spent: StrategyView["spent"]): MostSold {
  const { budget } = spec;
  const { token } = spec.sell;
  return {
    perRun: largestOrder(spec),
    swaps: sharesOf(spec).length,
    runs: budget?.maxRuns === undefined ? undefined : Math.max(0, budget.maxRuns - memory.runs),
    left: budget?.total === undefined ? undefined : { token, raw: budget.total - (spent.get(token.address) ?? 0n) },
    fromMs: spec.startMs,
    untilMs: budget?.untilMs,
  };
}

function needs(spec: DcaSpec): ViewNeeds {
  const { sell, onlyIf, dips } = spec;
  const gate = onlyIf === undefined ? [] : [onlyIf.of, onlyIf.price.quote];
  return {
    tokens: [sell.token, ...sharesOf(spec).map(({ token }) => token), ...gate],
    bars: dips === undefined ? [] : [{ token: dips.of, seconds: dips.reference.seconds }],
    flows: false,
  };
}

/** Dollar-cost averaging. */
export const dca: StrategyKind<DcaSpec, DcaMemory> = {
  initialMemory: emptyMemory,
  parseMemory: parseDcaMemory,
  needs,
  trades: (spec) => ({ sells: [spec.sell.token], buys: sharesOf(spec).map(({ token }) => token) }),
  isExit: () => false,
  unawareOf: ({ carry }) => (carry === undefined ? [] : ["what it carries over"]),
  mostSold,
  decide,
  closedAt,
  onRunEnded,
  // What is carried is an amount of the sold token: under another one it means nothing.
  onEdited: (before, after, memory) =>
    before.sell.token.address === after.sell.token.address ? memory : { ...memory, carry: {} },
};
