import { isCount, isRecord } from "../json.ts";
import { formatAmount, mulDivDown, parseRaw } from "../money/amount.ts";
import { larger, smaller } from "../money/bigint.ts";
import { convertUp, type UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import { budgetObstacle, periodsOf, tightest } from "./budget.ts";
import { isSameWallet, type StrategyCommon } from "./common.ts";
import type { Decision, PlannedSwap, SkipReason, StrategyPause, StrategyView } from "./decision.ts";
import type { MostSold, StrategyKind } from "./kind.ts";
import { type GrowingOrders, growWithin, mostAtOnce } from "./largest-trade.ts";
import { allOf } from "./own-gas.ts";
import { LONGEST_GROWING_PATH, pathValue, type ValuePath } from "./value-path.ts";

/** Value averaging: buys what lifts the worth of its own holding to a path that rises with every slot. */
export interface ValueAveragingSpec extends StrategyCommon, GrowingOrders {
  readonly kind: "value-averaging";
  /** what contributions are paid in, and what the path is counted in */
  readonly pay: Token;
  readonly buy: Token;
  readonly path: ValuePath;
  /** most that one slot buys or sells, in the smallest unit of `pay`, and the least worth a trade */
  readonly maxContribution: bigint;
  readonly min: bigint;
  readonly allowSell: boolean;
  /** Unix milliseconds; undefined begins with the first slot */
  readonly startMs: number | undefined;
  readonly onInsufficient: "skip" | "partial" | "pause";
}

/** How many scheduled instants have passed, and the last that was counted; null counts the next slot as one. */
export interface ValueAveragingMemory {
  readonly version: 1;
  readonly slots: number;
  readonly lastMs: number | null;
  /** own units that another wallet bought, in the smallest unit, so never sold; null: those of before the next slot */
  readonly elsewhere?: string | null | undefined;
}

interface Prices {
  readonly pay: UsdPrice;
  readonly buy: UsdPrice;
}

type Outcome = Decision<ValueAveragingMemory>["outcome"];
type Judgement = { readonly outcome: Outcome; readonly pause?: StrategyPause | undefined };

/**
 * Compares the path at this slot with what the units that this strategy bought and did not sell are worth, and trades the
 * difference. Slots are counted by the schedule, whether they ran or not, so a missed one is made up for by the path.
 */
function decide(
  spec: ValueAveragingSpec,
  view: StrategyView,
  before: ValueAveragingMemory,
): Decision<ValueAveragingMemory> {
  if (spec.startMs !== undefined && view.slotMs < spec.startMs) {
    return { memory: before, outcome: skip("not_started", "its first slot is still to come") };
  }
  const slots = before.slots + (before.lastMs === null ? 1 : view.instants);
  const elsewhere = before.elsewhere === null ? ownUnits(spec, view).toString() : before.elsewhere;
  const memory = { version: 1, slots, lastMs: Math.max(before.lastMs ?? 0, view.slotMs), elsewhere } as const;
  return { memory, ...judge(spec, view, { slots, elsewhere: BigInt(elsewhere ?? 0) }) };
}

function judge(
  spec: ValueAveragingSpec,
  view: StrategyView,
  { slots, elsewhere }: { readonly slots: number; readonly elsewhere: bigint },
): Judgement {
  if (spec.path.growth > 0n && slots > LONGEST_GROWING_PATH) {
    const detail = `a growing path ends after ${LONGEST_GROWING_PATH} slots`;
    return { outcome: skip("ended", detail), pause: { code: "completed", detail } };
  }
  const pay = view.prices.get(spec.pay.address)?.usd;
  const buy = view.prices.get(spec.buy.address)?.usd;
  if (pay === undefined || buy === undefined || pay <= 0n || buy <= 0n) {
    const detail = `no reference price for ${spec.buy.symbol} in ${spec.pay.symbol}`;
    return { outcome: { kind: "defer", reason: "unpriceable", detail } };
  }
  const path = pathValue(spec.path, slots);
  const units = ownUnits(spec, view);
  const prices = { pay, buy };
  const worth = worthUp(spec, units, prices);
  // What a person accepted as sold may have been somebody else's: it is not bought once more, and not sold either.
  const most = worthUp(spec, ownUnits(spec, view, view.accepted?.get(spec.buy.address)), prices);
  const accepted = most === worth ? "" : `, of which ${show(spec, most - worth)} were accepted as sold`;
  const where = `slot ${slots} of the path is ${show(spec, path)}, the holding is worth ${show(spec, most)}${accepted}`;
  if (path > most) {
    const own = larger(path - pathValue(spec.path, slots - 1), spec.min);
    return contribute(spec, view, { missing: path - most, own, where });
  }
  const excess = worth - path;
  if (!spec.allowSell || excess <= 0n) return { outcome: skip("on_path", where) };
  const here = units > elsewhere ? units - elsewhere : 0n;
  return sellExcess(spec, view, { excess, units: here, prices, where });
}

function skip(reason: SkipReason, detail: string): Outcome {
  return { kind: "skip", reason, detail };
}

function show(spec: ValueAveragingSpec, raw: bigint): string {
  return formatAmount({ token: spec.pay, raw });
}

/** What it bought and has not sold, without such sales as are not its own; the wallet's other holdings do not count. */
function ownUnits(spec: ValueAveragingSpec, view: StrategyView, except = 0n): bigint {
  const bought = view.bought.get(spec.buy.address) ?? 0n;
  const sold = (view.spent.get(spec.buy.address) ?? 0n) - except;
  return bought > sold ? bought - sold : 0n;
}

/** Rounded up, so that a contribution never lifts the holding above the path. */
function worthUp(spec: ValueAveragingSpec, units: bigint, prices: Prices): bigint {
  const held = { raw: units, decimals: spec.buy.decimals, usd: prices.buy };
  return convertUp(held, { decimals: spec.pay.decimals, usd: prices.pay });
}

/**
 * Falling markets and missed slots ask for ever more: the cap, the policy, the budget and the balance bind, in this order.
 * `own` is what the path rises by at this slot.
 */
function contribute(
  spec: ValueAveragingSpec,
  view: StrategyView,
  from: { readonly missing: bigint; readonly own: bigint; readonly where: string },
): Judgement {
  const spent = view.spent.get(spec.pay.address) ?? 0n;
  const total = spec.budget?.total;
  const left = total === undefined ? spec.maxContribution : total - spent;
  if (total !== undefined && left < spec.min) {
    const detail = `paid ${show(spec, spent)} of ${show(spec, total)}`;
    const pause = spec.allowSell ? undefined : ({ code: "completed", detail } as const);
    return { outcome: skip("budget_spent", detail), pause };
  }
  const wished = smaller(from.missing, spec.maxContribution);
  const grown = growWithin(mostAtOnce(spec, spec.pay, view.prices), { own: from.own, wanted: wished });
  const asked = smaller(grown, left);
  const period = tightest(periodsOf(view.budget), spec.pay);
  const wanted = smaller(asked, period?.left ?? asked);
  if (period !== undefined && wanted < spec.min && asked >= spec.min) {
    const { reason, detail } = budgetObstacle(period, { wanted: asked }, spec.pay);
    return { outcome: skip(reason, detail) };
  }
  if (wanted < spec.min) return { outcome: skip("below_minimum_trade", from.where) };
  const free = view.free.get(spec.pay.address) ?? 0n;
  if (free >= wanted) return { outcome: trade({ sell: spec.pay, buy: spec.buy, raw: wanted }) };
  const all = allOf(view, spec.pay);
  if (spec.onInsufficient === "partial" && all >= spec.min) {
    return { outcome: trade({ sell: spec.pay, buy: spec.buy, raw: all }) };
  }
  const detail = `needs ${show(spec, wanted)}, free are ${show(spec, free)}`;
  const pause = spec.onInsufficient === "pause" ? ({ code: "insufficient_balance", detail } as const) : undefined;
  return { outcome: skip("insufficient_balance", detail), pause };
}

/** Sells of its own units what they are worth above the path, rounded down; the cap, the policy and the balance bind. */
function sellExcess(
  spec: ValueAveragingSpec,
  view: StrategyView,
  from: { readonly excess: bigint; readonly units: bigint; readonly prices: Prices; readonly where: string },
): Judgement {
  const wished = smaller(from.excess, spec.maxContribution);
  const worth = growWithin(mostAtOnce(spec, spec.pay, view.prices), { own: spec.min, wanted: wished });
  if (worth < spec.min) return { outcome: skip("on_path", from.where) };
  const { pay, buy } = from.prices;
  const raw = mulDivDown(worth * pay, 10n ** BigInt(spec.buy.decimals), buy * 10n ** BigInt(spec.pay.decimals));
  const sold = [raw, from.units, allOf(view, spec.buy)].reduce(smaller);
  if (worthUp(spec, sold, from.prices) < spec.min) {
    const detail = `would sell ${formatAmount({ token: spec.buy, raw })}, free are ${formatAmount({ token: spec.buy, raw: sold })}`;
    return { outcome: skip("insufficient_balance", detail) };
  }
  return { outcome: trade({ sell: spec.buy, buy: spec.pay, raw: sold }) };
}

function trade({ sell, buy, raw }: { sell: Token; buy: Token; raw: bigint }): Outcome {
  const swap: PlannedSwap = { sell, buy, amount: { kind: "fixed", raw } };
  return { kind: "swap", swaps: [swap] };
}

function parseMemory(json: unknown): ValueAveragingMemory | undefined {
  if (!isRecord(json) || json.version !== 1) return undefined;
  const { slots, lastMs, elsewhere } = json;
  if (!isCount(slots) || !(lastMs === null || isCount(lastMs))) return undefined;
  if (elsewhere === undefined || elsewhere === null) return { version: 1, slots, lastMs, elsewhere };
  return typeof elsewhere === "string" && parseRaw(elsewhere) !== undefined
    ? { version: 1, slots, lastMs, elsewhere }
    : undefined;
}

/**
 * Under another schedule the path goes on with its next slot: instants of two schedules are never added up. What another
 * wallet bought is still part of the holding, but this one need not have it.
 */
function onEdited(
  before: ValueAveragingSpec,
  after: ValueAveragingSpec,
  memory: ValueAveragingMemory,
): ValueAveragingMemory {
  const isSame = JSON.stringify(before.schedule) === JSON.stringify(after.schedule);
  const scheduled = isSame ? memory : { ...memory, lastMs: null };
  return isSameWallet(before, after) ? scheduled : { ...scheduled, elsewhere: null };
}

/** Where it sells too, its budget bounds only what it pays. */
function mostSold(spec: ValueAveragingSpec, _memory: ValueAveragingMemory, spent: StrategyView["spent"]): MostSold {
  const { pay, budget, allowSell, startMs } = spec;
  const total = allowSell ? undefined : budget?.total;
  const left = total === undefined ? undefined : { token: pay, raw: total - (spent.get(pay.address) ?? 0n) };
  return { perRun: { token: pay, raw: spec.maxContribution }, left, fromMs: startMs };
}

/** Value averaging. */
export const valueAveraging: StrategyKind<ValueAveragingSpec, ValueAveragingMemory> = {
  initialMemory: () => ({ version: 1, slots: 0, lastMs: null }),
  parseMemory,
  needs: ({ pay, buy, startMs }, { lastMs }) => ({
    tokens: [pay, buy],
    bars: [],
    flows: false,
    // a start that was moved to later leaves out what lies between
    instantsAfterMs: lastMs === null ? undefined : Math.max(lastMs, (startMs ?? 0) - 1),
  }),
  trades: ({ pay, buy, allowSell }) =>
    allowSell ? { sells: [pay, buy], buys: [buy, pay] } : { sells: [pay], buys: [buy] },
  isExit: () => false,
  unawareOf: () => ["what was bought: the path buys that again"],
  remembersPlan: true,
  mostSold,
  decide,
  onRunEnded: (_spec, memory) => ({ memory }),
  onEdited,
};
