import { isCount, isRecord } from "../json.ts";
import { formatAmount, parseRaw } from "../money/amount.ts";
import { smaller } from "../money/bigint.ts";
import type { Ppm } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import { formatTimeLeft } from "../time/format-duration.ts";
import { budgetObstacle, periodsOf, tightest } from "./budget.ts";
import type { StrategyCommon } from "./common.ts";
import type { Decision, Rate, SkipReason, StrategyView } from "./decision.ts";
import type { AfterRun, ClosedNow, MostSold, RunEnd, StrategyKind } from "./kind.ts";
import { type GrowingOrders, growWithin, mostAtOnce } from "./largest-trade.ts";
import { abortAt, describeRate, isWorse, referenceRate } from "./twap-prices.ts";
import { sliceSizes } from "./twap-slices.ts";

/** Sells a total in slices over a stretch of time, so that the average price is the market's over that time. */
export interface TwapSpec extends StrategyCommon, GrowingOrders {
  readonly kind: "twap";
  /** the total over the strategy's life, in the sold token's smallest unit */
  readonly sell: { readonly token: Token; readonly raw: bigint };
  readonly buy: Token;
  /** Unix milliseconds; undefined begins with the first slot */
  readonly startMs: number | undefined;
  readonly slices: number;
  /** from one slice to the next */
  readonly everySeconds: number;
  readonly spread: Ppm;
  readonly slice: {
    /** what becomes of a slice that was not sold: it joins the next, it is made up for after the end, or never */
    readonly unfilled: "roll" | "extend" | "drop";
    /** most and least that one swap sells */
    readonly max: bigint;
    readonly min: bigint;
  };
  readonly limit: {
    /** the worst rate at which a slice is sold, all fees included */
    readonly floor: Rate | undefined;
    /** below this rate, at reference prices, the strategy stops itself */
    readonly abort: Rate | undefined;
  };
  /** it leaves a position: it trades in the mode `exits-only` too */
  readonly exit: boolean;
}

/**
 * What was sold is counted from the recorded swaps; remembered is only from when slices are counted, and what was left
 * to sell when the last run began.
 */
export interface TwapMemory {
  readonly version: 1;
  readonly startMs: number | null;
  /** decimal text, in the sold token's smallest unit */
  readonly left: string | null;
  /** the slice at hand sells more than its own amount */
  readonly isGrown?: boolean | undefined;
  /** a slice that had grown was too much at once: from then on each sells its own amount at most */
  readonly ownOnly?: boolean | undefined;
}

/** A plan that may be extended ends after so many times its length at the latest. */
const LONGEST_EXTENSION = 2;

/** Where in its plan the strategy stands. */
interface Position {
  readonly slice: number;
  /** the first slice had its slot, which was of the moment, before this one of the schedule */
  readonly isAgain: boolean;
  /** what the slice sells when nothing joins it; after the plan's end an even one */
  readonly own: bigint;
  /** what the plan has come to with it */
  readonly planned: bigint;
  readonly spent: bigint;
  readonly left: bigint;
  /** nothing new is begun from here on, Unix milliseconds */
  readonly endMs: number;
}

function decide(spec: TwapSpec, view: StrategyView, before: TwapMemory): Decision<TwapMemory> {
  const startMs = spec.startMs ?? before.startMs ?? view.slotMs;
  const memory: TwapMemory = { version: 1, startMs, left: null, ownOnly: before.ownOnly };
  if (view.slotMs < startMs || (spec.startMs !== undefined && view.nowMs < spec.startMs)) {
    const detail = `it begins in ${formatTimeLeft(startMs - view.nowMs)}`;
    return { memory: before, outcome: { kind: "skip", reason: "not_started", detail } };
  }
  const at = positionOf(spec, view, startMs);
  if (at.left < spec.slice.min) return finished(memory, "budget_spent", describeSold(spec, at.spent));
  if (view.nowMs >= at.endMs || view.slotMs >= at.endMs) {
    return finished(memory, "ended", `its time is over: ${describeSold(spec, at.spent)}`);
  }
  return priceBars(spec, view, memory) ?? sellSlice(spec, view, { memory, at });
}

function positionOf(spec: TwapSpec, view: StrategyView, startMs: number): Position {
  const gapMs = spec.everySeconds * 1_000;
  const spent = view.spent.get(spec.sell.token.address) ?? 0n;
  const slice = Math.floor((view.slotMs - startMs) / gapMs);
  const sizes = sliceSizes({ id: spec.id, total: spec.sell.raw, slices: spec.slices, spread: spec.spread });
  return {
    own: sizes[slice] ?? spec.sell.raw / BigInt(spec.slices),
    planned: sizes.slice(0, slice + 1).reduce((sum, size) => sum + size, 0n),
    ...{ slice, isAgain: slice === 0 && view.slotMs > startMs },
    spent,
    left: spec.sell.raw - spent,
    endMs: endOf(spec, startMs),
  };
}

function finished(memory: TwapMemory, reason: SkipReason, detail: string): Decision<TwapMemory> {
  const code = reason === "ended" ? "unsold" : "completed";
  return { memory, outcome: { kind: "skip", reason, detail }, pause: { code, detail } };
}

/** The abort price stops the strategy, the limit price puts the slice off. Both are rates at reference prices. */
function priceBars(spec: TwapSpec, { prices }: StrategyView, memory: TwapMemory): Decision<TwapMemory> | undefined {
  const { floor, abort } = spec.limit;
  if (floor === undefined && abort === undefined) return undefined;
  const rate = referenceRate(spec, prices);
  if (rate === undefined) {
    const detail = `no reference price for ${spec.sell.token.symbol} in ${spec.buy.symbol}`;
    return { memory, outcome: { kind: "defer", reason: "unpriceable", detail } };
  }
  const pause = abortAt(spec, prices);
  if (pause !== undefined) {
    return { memory, outcome: { kind: "skip", reason: "price_abort", detail: pause.detail }, pause };
  }
  if (floor === undefined || !isWorse(rate, floor)) return undefined;
  const detail = `${describeRate(spec, rate)}; the limit price is ${describeRate(spec, floor)}`;
  return { memory, outcome: { kind: "defer", reason: "price_limit", detail } };
}

/** The abort price once more: a slice may have waited for a person, or for the service, since its decision. */
function closedAt(spec: TwapSpec, prices: StrategyView["prices"]): ClosedNow | undefined {
  const pause = abortAt(spec, prices);
  return pause && { reason: "price_abort", detail: pause.detail, forGood: true, pause };
}

function sellSlice(
  spec: TwapSpec,
  view: StrategyView,
  from: { memory: TwapMemory; at: Position },
): Decision<TwapMemory> {
  const { memory, at } = from;
  const { token } = spec.sell;
  const due = amountOf(spec, at, memory.ownOnly === true ? 0n : mostAtOnce(spec, token, view.prices));
  const period = tightest(periodsOf(view.budget), token);
  const raw = cutToPeriod(spec, { due, left: at.left, period: period?.left });
  if (period !== undefined && raw < spec.slice.min && due >= spec.slice.min) {
    return { memory, outcome: { kind: "skip", ...budgetObstacle(period, { wanted: due }, token) } };
  }
  if (raw < spec.slice.min) {
    const detail = `${formatAmount({ token, raw })} are due, the smallest slice is ${formatAmount({ token, raw: spec.slice.min })}`;
    return { memory, outcome: { kind: "skip", reason: "below_minimum_trade", detail } };
  }
  const free = view.free.get(token.address) ?? 0n;
  if (free < raw) {
    const detail = `needs ${formatAmount({ token, raw })}, free are ${formatAmount({ token, raw: free })}`;
    return { memory, outcome: { kind: "skip", reason: "insufficient_balance", detail } };
  }
  const untilEndSeconds = Math.max(1, Math.floor((at.endMs - view.nowMs) / 1_000));
  const swap = {
    sell: token,
    buy: spec.buy,
    amount: { kind: "fixed", raw },
    floor: spec.limit.floor,
    retryForSeconds: untilEndSeconds < spec.retryForSeconds ? untilEndSeconds : undefined,
  } as const;
  const isGrown = raw > at.own || undefined;
  return { memory: { ...memory, left: at.left.toString(), isGrown }, outcome: { kind: "swap", swaps: [swap] } };
}

/**
 * What the slice at hand sells: with `roll` all that the plan has come to and was not sold, else the slice alone, and
 * after the plan's end an even one. Never more than the cap or what is left, and nothing beyond the slice's own size that
 * is more than `most` in all. A rest too small for a slice of its own joins the one before it where these allow.
 */
function amountOf(spec: TwapSpec, at: Position, most: bigint | undefined): bigint {
  const { unfilled, min } = spec.slice;
  const max = growWithin(most, { own: at.own, wanted: spec.slice.max });
  const isNone = at.isAgain || (at.slice >= spec.slices && unfilled !== "extend");
  const alone = isNone ? 0n : at.own;
  const wanted = unfilled === "roll" ? at.planned - at.spent : alone;
  if (unfilled !== "drop" && wanted >= min && at.left - wanted < min && at.left <= max) return at.left;
  if (wanted <= 0n) return 0n;
  return [wanted, max, at.left].reduce(smaller);
}

/** A period of the budget cuts a slice, and leaves no rest of the total that is too small for a slice of its own. */
function cutToPeriod(
  { slice }: TwapSpec,
  { due, left, period }: { readonly due: bigint; readonly left: bigint; readonly period: bigint | undefined },
): bigint {
  if (period === undefined || due <= period) return due;
  const isRestTooSmall = left - period < slice.min;
  return isRestTooSmall ? smaller(period, left - slice.min) : period;
}

function describeSold(spec: TwapSpec, spent: bigint): string {
  const { token, raw } = spec.sell;
  const left = raw > spent ? raw - spent : 0n;
  const rest = left === 0n ? "" : `, ${formatAmount({ token, raw: left })} are left unsold`;
  return `sold ${formatAmount({ token, raw: spent })} of ${formatAmount({ token, raw })}${rest}`;
}

/** Why a slice sold nothing because it was too much at once. */
const TOO_MUCH_AT_ONCE: ReadonlySet<string> = new Set(["RUN_CAP_EXCEEDED", "PRICE_IMPACT_TOO_HIGH"]);

/** The slice that sells the last of the total completes the strategy. One that grew too large is the last that grew. */
function onRunEnded(spec: TwapSpec, memory: TwapMemory, end: RunEnd): AfterRun<TwapMemory> {
  const left = memory.left === null ? undefined : parseRaw(memory.left);
  if (left === undefined) return { memory };
  const sold = end.swaps.reduce((sum, swap) => sum + swap.sold, 0n);
  const isTooMuch = end.dry !== true && end.swaps.some(({ reason = "" }) => TOO_MUCH_AT_ONCE.has(reason));
  const ownOnly = isTooMuch && memory.isGrown === true ? true : memory.ownOnly;
  const after: TwapMemory = { version: 1, startMs: memory.startMs, left: null, ownOnly };
  if (sold === 0n || left - sold >= spec.slice.min) return { memory: after };
  return { memory: after, pause: { code: "completed", detail: describeSold(spec, spec.sell.raw - left + sold) } };
}

function parseMemory(json: unknown): TwapMemory | undefined {
  if (!isRecord(json) || json.version !== 1) return undefined;
  const { startMs, left, isGrown, ownOnly } = json;
  if (startMs !== null && !isCount(startMs)) return undefined;
  if (!isFlag(isGrown) || !isFlag(ownOnly)) return undefined;
  if (left !== null && (typeof left !== "string" || parseRaw(left) === undefined)) return undefined;
  return { version: 1, startMs, left, isGrown, ownOnly };
}

/** Absent in memories of before it was remembered. */
function isFlag(json: unknown): json is boolean | undefined {
  return json === undefined || typeof json === "boolean";
}

function mostSold(spec: TwapSpec, { startMs }: TwapMemory, spent: StrategyView["spent"]): MostSold {
  const { token, raw } = spec.sell;
  const beginsMs = spec.startMs ?? startMs;
  return {
    perRun: { token, raw: spec.slice.max },
    left: { token, raw: raw - (spent.get(token.address) ?? 0n) },
    fromMs: spec.startMs,
    untilMs: beginsMs === null ? undefined : endOf(spec, beginsMs),
  };
}

/** Nothing new is begun from here on, Unix milliseconds. */
function endOf(spec: TwapSpec, startMs: number): number {
  const lengths = spec.slice.unfilled === "extend" ? LONGEST_EXTENSION : 1;
  // The second slice of a plan that began at once waits for its instant of the schedule, a gap and up to another one later.
  const waits = spec.startsNow === true ? 1 : 0;
  return startMs + (lengths * spec.slices + waits) * spec.everySeconds * 1_000;
}

/** Sells a total in slices over time. */
export const twap: StrategyKind<TwapSpec, TwapMemory> = {
  initialMemory: () => ({ version: 1, startMs: null, left: null }),
  parseMemory,
  needs: (spec) => ({ tokens: [spec.sell.token, spec.buy], bars: [], flows: false }),
  trades: (spec) => ({ sells: [spec.sell.token], buys: [spec.buy] }),
  isExit: (spec) => spec.exit,
  remembersPlan: true,
  mostSold,
  decide,
  closedAt,
  onRunEnded,
  // Other limits, or smaller slices, may let through what was too much.
  onEdited: (_before, _after, memory) => ({ ...memory, ownOnly: undefined }),
};
