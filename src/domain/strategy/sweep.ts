import { formatAmount } from "../money/amount.ts";
import { smaller } from "../money/bigint.ts";
import { amountWorthDown, formatDollars, type UsdPrice, valueDown, valueUp } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import { formatTimeLeft } from "../time/format-duration.ts";
import { isSameWallet, type StrategyCommon } from "./common.ts";
import type { Decision, SkipReason, StrategyView } from "./decision.ts";
import type { AfterRun, RunEnd, StrategyKind } from "./kind.ts";
import { allOf } from "./own-gas.ts";
import { capped, lessPlanned, type SweepCap, sweepCap } from "./sweep-cap.ts";
import {
  FRESH_SWEEP,
  isSweeping,
  type PlannedSale,
  parseSweepMemory,
  type SweepMemory,
  withMeasured,
  withoutFuture,
  withPlanned,
} from "./sweep-memory.ts";

/** A token that is sold, and how much of it always stays. */
export interface SweepSource {
  readonly token: Token;
  /** in the token's smallest unit */
  readonly keep: bigint;
  /** sold once the free balance, or its worth in dollars, is above; undefined in a strategy that refills */
  readonly above: { readonly raw: bigint } | { readonly usd: UsdPrice } | undefined;
}

/** Keeps the wallet's native coin between two thresholds, in wei. */
export interface Refill {
  readonly below: bigint;
  readonly to: bigint;
  /** native coin that all other strategies of the wallet leave for the gas of a refill */
  readonly lastResort: bigint;
}

/** Sells what a wallet has too much of, lot by lot; or, with `refill`, buys what it has too little gas of. */
export interface SweepSpec extends StrategyCommon {
  readonly kind: "sweep";
  readonly from: readonly SweepSource[];
  readonly to: Token;
  readonly refill: Refill | undefined;
  /** worth of one swap, dollars scaled by 1e18 */
  readonly lot: { readonly min: UsdPrice; readonly max: UsdPrice };
  /** most that it sells in any 24 hours */
  readonly maxPerDay: UsdPrice | undefined;
  readonly cooldownSeconds: number;
  /** it leaves a position: it trades in the mode `exits-only` too */
  readonly exit: boolean;
}

/** One lot that may be sold now. */
interface Lot extends PlannedSale {
  readonly token: Token;
}

/** Why a token is not sold now. */
interface Obstacle {
  readonly reason: SkipReason;
  readonly detail: string;
}

function decide(spec: SweepSpec, view: StrategyView, before: SweepMemory): Decision<SweepMemory> {
  const memory = withoutFuture(before, spec.cooldownSeconds, view.nowMs);
  if (view.nowMs < memory.restsUntilMs) {
    const detail = `${formatTimeLeft(memory.restsUntilMs - view.nowMs)} of the cooldown are left`;
    return { memory, outcome: { kind: "skip", reason: "cooling_down", detail } };
  }
  return spec.refill === undefined ? sweep(spec, view, memory) : refill(spec, view, { memory, refill: spec.refill });
}

/**
 * Each token that passed its threshold is sold down to what is kept, one lot a run. The threshold starts it and only what is kept
 * ends it, so a balance that wavers around the threshold sells nothing twice.
 */
function sweep(spec: SweepSpec, view: StrategyView, before: SweepMemory): Decision<SweepMemory> {
  const lots: Lot[] = [];
  const obstacles: Obstacle[] = [];
  const sweeping: string[] = [];
  let cap = sweepCap(spec, view, before);
  for (const source of spec.from) {
    const wasSweeping = isSweeping(before, source.token.address);
    const found = surplusLot(spec, view, { source, wasSweeping, cap });
    if (found.sweeping) sweeping.push(source.token.address);
    if ("reason" in found) {
      obstacles.push(found);
      continue;
    }
    lots.push(found);
    cap = lessPlanned(cap, found.usd);
  }
  const memory = { ...before, sweeping };
  return lots.length > 0 ? sell(spec, view, { memory, lots }) : nothing(memory, obstacles);
}

function surplusLot(
  spec: SweepSpec,
  view: StrategyView,
  from: { readonly source: SweepSource; readonly wasSweeping: boolean; readonly cap: SweepCap },
): (Lot | Obstacle) & { readonly sweeping: boolean } {
  const { source, wasSweeping, cap } = from;
  const { token, keep, above } = source;
  const free = view.free.get(token.address) ?? 0n;
  const usd = view.prices.get(token.address)?.usd;
  if (usd === undefined || usd <= 0n) return { ...unpriced(token), sweeping: wasSweeping };
  const seen = `${formatAmount({ token, raw: free })} are free`;
  if (!wasSweeping && !isAbove(above, { raw: free, worth: worthDown(token, free, usd) })) {
    return { reason: "below_mark", detail: seen, sweeping: false };
  }
  const sellable = allOf(view, token);
  const surplus = sellable > keep ? sellable - keep : 0n;
  if (worthDown(token, surplus, usd) < spec.lot.min) {
    const detail = `${seen}, ${formatAmount({ token, raw: keep })} stay: the rest is less than a lot`;
    return { reason: "below_minimum_trade", detail, sweeping: false };
  }
  const raw = lotOf(spec, { token, surplus, usd, cap });
  if (typeof raw !== "bigint") return { ...raw, sweeping: true };
  return { token, raw, usd: worthUp(token, raw, usd), sweeping: true };
}

function isAbove(threshold: SweepSource["above"], seen: { readonly raw: bigint; readonly worth: bigint }): boolean {
  if (threshold === undefined) return false;
  return "raw" in threshold ? seen.raw > threshold.raw : seen.worth > threshold.usd;
}

/**
 * As much of a surplus as one lot may sell. A rest that would be too small for a lot of its own is made large enough by
 * selling less now, where that leaves a lot. What keeps it from a lot is the cap, or units that are too dear for one.
 */
function lotOf(
  spec: SweepSpec,
  from: { readonly token: Token; readonly surplus: bigint; readonly usd: UsdPrice; readonly cap: SweepCap },
): bigint | Obstacle {
  const { token, surplus, usd, cap } = from;
  const { min, max } = spec.lot;
  const most = capped(cap, max);
  const atMost = most > 0n ? amountWorthDown(most, { decimals: token.decimals, usd }) : 0n;
  if (surplus <= atMost) return surplus;
  if (worthUp(token, atMost, usd) < min) {
    if (most < max) return cap.obstacle;
    const unit = formatAmount({ token, raw: 1n });
    const detail = `no number of units of ${unit} is a lot of ${formatDollars(min)} to ${formatDollars(max)}`;
    return { reason: "below_minimum_trade", detail };
  }
  const rest = surplus - atMost;
  const smallest = amountWorthDown(min, { decimals: token.decimals, usd }) + 1n;
  const leaving = surplus - smallest;
  if (worthDown(token, rest, usd) < min && leaving > 0n && worthDown(token, leaving, usd) >= min) return leaving;
  return atMost;
}

/** Buys what is missing to the upper threshold with the first token that has enough for a lot. */
function refill(
  spec: SweepSpec,
  view: StrategyView,
  from: { readonly memory: SweepMemory; readonly refill: Refill },
): Decision<SweepMemory> {
  const { memory, refill } = from;
  const balance = view.balances.get(spec.to.address);
  const seen = `${formatAmount({ token: spec.to, raw: balance ?? 0n })} are there`;
  if (balance === undefined || balance >= refill.below) {
    return { memory, outcome: { kind: "skip", reason: "below_mark", detail: seen } };
  }
  const usd = view.prices.get(spec.to.address)?.usd;
  if (usd === undefined || usd <= 0n) return nothing(memory, [unpriced(spec.to)]);
  const wanted = worthDown(spec.to, refill.to - balance, usd);
  const obstacles: Obstacle[] = [];
  for (const source of spec.from) {
    const found = refillLot(spec, view, { source, wanted, cap: sweepCap(spec, view, memory) });
    if (!("reason" in found)) return sell(spec, view, { memory, lots: [found] });
    obstacles.push(found);
  }
  return nothing(memory, obstacles);
}

function refillLot(
  spec: SweepSpec,
  view: StrategyView,
  from: { readonly source: SweepSource; readonly wanted: bigint; readonly cap: SweepCap },
): Lot | Obstacle {
  const { token, keep } = from.source;
  const usd = view.prices.get(token.address)?.usd;
  if (usd === undefined || usd <= 0n) return unpriced(token);
  const { min, max } = spec.lot;
  const worth = smaller(from.wanted, max);
  const allowed = capped(from.cap, worth);
  if (allowed < min && worth >= min) return from.cap.obstacle;
  const needed = allowed > 0n ? amountWorthDown(allowed, { decimals: token.decimals, usd }) : 0n;
  const all = allOf(view, token);
  const sellable = all > keep ? all - keep : 0n;
  const raw = smaller(needed, sellable);
  if (worthUp(token, raw, usd) >= min) return { token, raw, usd: worthUp(token, raw, usd) };
  if (needed <= sellable) return { reason: "below_minimum_trade", detail: `${formatDollars(worth)} are missing` };
  const detail = `needs ${formatAmount({ token, raw: needed })}, free are ${formatAmount({ token, raw: sellable })}`;
  return { reason: "insufficient_balance", detail };
}

function sell(
  spec: SweepSpec,
  view: StrategyView,
  from: { readonly memory: SweepMemory; readonly lots: readonly Lot[] },
): Decision<SweepMemory> {
  const { memory, lots } = from;
  const swaps = lots.map(({ token, raw }) => ({ sell: token, buy: spec.to, amount: { kind: "fixed", raw } }) as const);
  return { memory: withPlanned(memory, lots, view.nowMs), outcome: { kind: "swap", swaps } };
}

/** The weightiest obstacle is the reason. A missing price may come back within the window. */
function nothing(memory: SweepMemory, obstacles: readonly Obstacle[]): Decision<SweepMemory> {
  const weight = (wanted: SkipReason) => obstacles.find(({ reason }) => reason === wanted);
  const first =
    weight("budget_spent") ??
    weight("budget_period_spent") ??
    weight("turnover_spent") ??
    weight("insufficient_balance") ??
    weight("unpriceable") ??
    weight("below_minimum_trade");
  const reason = first?.reason ?? "below_mark";
  const detail = obstacles.map((obstacle) => obstacle.detail).join("; ");
  const pause = reason === "budget_spent" ? ({ code: "completed", detail } as const) : undefined;
  return { memory, outcome: { kind: reason === "unpriceable" ? "defer" : "skip", reason, detail }, pause };
}

function unpriced(token: Token): Obstacle {
  return { reason: "unpriceable", detail: `no reference price for ${token.symbol}` };
}

function worthDown(token: Token, raw: bigint, usd: UsdPrice): bigint {
  return valueDown({ raw, decimals: token.decimals }, usd);
}

function worthUp(token: Token, raw: bigint, usd: UsdPrice): bigint {
  return valueUp({ raw, decimals: token.decimals }, usd);
}

/** It rests after a run that sold something; what was not sold is given back to the day. */
function onRunEnded(spec: SweepSpec, memory: SweepMemory, end: RunEnd): AfterRun<SweepMemory> {
  const measured = withMeasured(memory, end);
  if (!end.filled) return { memory: measured };
  return { memory: { ...measured, restsUntilMs: end.nowMs + spec.cooldownSeconds * 1_000 } };
}

/** A token whose mark was moved, or that is another wallet's, must pass its threshold; what was sold in the last day stays sold. */
function onEdited(before: SweepSpec, after: SweepSpec, memory: SweepMemory): SweepMemory {
  const thresholdOf = ({ from }: SweepSpec, address: string): string | undefined => {
    const above = from.find(({ token }) => token.address === address)?.above;
    if (above === undefined) return undefined;
    return "raw" in above ? `raw ${above.raw}` : `usd ${above.usd}`;
  };
  const isSame = before.to.address === after.to.address && isSameWallet(before, after);
  const sweeping = memory.sweeping.filter(
    (token) => isSame && thresholdOf(before, token) === thresholdOf(after, token),
  );
  return { ...memory, sweeping };
}

/** Sells what is above a threshold, or keeps the wallet's gas between two. */
export const sweepKind: StrategyKind<SweepSpec, SweepMemory> = {
  initialMemory: () => FRESH_SWEEP,
  parseMemory: parseSweepMemory,
  needs: (spec) => ({ tokens: [...spec.from.map(({ token }) => token), spec.to], bars: [], flows: false }),
  trades: (spec) => ({ sells: spec.from.map(({ token }) => token), buys: [spec.to] }),
  isExit: (spec) => spec.exit,
  unawareOf: ({ maxPerDay }) => ["cooldown", ...(maxPerDay === undefined ? [] : ["limits.max_per_day"])],
  mostSold: ({ refill, from, lot, maxPerDay, cooldownSeconds }) => {
    const swaps = refill === undefined ? from.length : 1;
    const usd = (lot.max * BigInt(swaps)) as UsdPrice;
    return { perRun: { usd }, swaps, perDayUsd: maxPerDay, restSeconds: cooldownSeconds };
  },
  lastResortGas: (spec) => spec.refill?.lastResort ?? 0n,
  decide,
  onRunEnded,
  onEdited,
};
