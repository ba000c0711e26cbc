import type { Address } from "../money/address.ts";
import { formatAmount, mulDivDown, mulDivUp } from "../money/amount.ts";
import { larger, smaller } from "../money/bigint.ts";
import { ONE_PPM, type Ppm, shareDown } from "../money/fraction.ts";
import { amountWorthDown, convertUp, type UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import { type BudgetLeft, budgetObstacle } from "./budget.ts";
import type { Rate, SkipReason, StrategyPause, StrategyView } from "./decision.ts";
import { type Dips, dipMultiplier } from "./dips.ts";
import type { Worth } from "./kind.ts";
import { type GrowingOrders, growWithin, mostAtOnce } from "./largest-trade.ts";
import { allOf } from "./own-gas.ts";

/**
 * How much one slot sells: a fixed amount, a share of the free balance, what is worth so many dollars (scaled by 1e18),
 * or what it takes to buy `bought` of the bought token, which may cost `most` of the sold one.
 */
type DcaAmount =
  | { readonly raw: bigint }
  | { readonly share: Ppm }
  | { readonly usd: UsdPrice }
  | { readonly bought: bigint; readonly most: bigint };

/** One of several bought tokens and its share of each order. */
export interface DcaShare {
  readonly token: Token;
  readonly weight: Ppm;
}

/** What says how large an order is and how it is split. */
export interface DcaTerms extends GrowingOrders {
  readonly sell: { readonly token: Token } & DcaAmount;
  /** one token, or several whose weights sum to one whole */
  readonly buy: Token | readonly DcaShare[];
  /** an order of less than this, in the sold token's smallest unit, is not worth it */
  readonly minSell?: bigint | undefined;
  readonly onInsufficient?: "skip" | "partial" | "pause" | undefined;
  readonly dips?: Dips | undefined;
  /** what fees kept from being sold is added to a later order; an order is at most `maxMultiple` of a slot's amount */
  readonly carry?: { readonly maxMultiple: Ppm } | undefined;
}

/** The part of an order that buys one token: the slot's own amount, and what was carried over from earlier slots. */
export interface DcaLeg {
  readonly buy: Token;
  readonly own: bigint;
  readonly carried: bigint;
}

/** Amounts carried over, by the token that they shall buy. */
export type Carry = ReadonlyMap<Address, bigint>;

type Order =
  | {
      readonly kind: "order";
      readonly legs: readonly DcaLeg[];
      readonly left: Carry;
      readonly detail: string | undefined;
    }
  | {
      readonly kind: "skip" | "defer";
      readonly reason: SkipReason;
      readonly detail: string;
      readonly pause?: StrategyPause | undefined;
    };

/** The bought tokens with their weights, in the order of the file. */
export function sharesOf({ buy }: DcaTerms): readonly DcaShare[] {
  return "symbol" in buy ? [{ token: buy, weight: ONE_PPM }] : buy;
}

/** The rate at which an order that shall buy a certain amount is still cheap enough, all fees included. */
export function floorOf({ sell }: DcaTerms): Rate | undefined {
  return "bought" in sell ? { bought: sell.bought, sold: sell.most } : undefined;
}

/**
 * How large the order of this slot is, leg by leg. The slot's own amount is multiplied first (missed slots, dips); what
 * that adds is cut to what the policy lets each leg sell and to what is free; then budget and free balance bind. What was
 * carried over fills what room is left.
 * @param from what the budget still allows over the strategy's life, undefined without such a bound; and of the tightest
 * of its periods, which an order that stands for more than a slot's amount is cut to
 */
export function sizeOrder(
  terms: DcaTerms,
  view: StrategyView,
  from: { remaining: bigint | undefined; period: BudgetLeft | undefined; carry: Carry },
): Order {
  const { token } = terms.sell;
  const base = baseAmount(terms, view);
  if (typeof base !== "bigint") return base;
  const free = view.free.get(token.address) ?? 0n;
  const all = allOf(view, token);
  const dip = terms.dips === undefined ? undefined : dipMultiplier(terms.dips, view);
  const multiplied = mulDivDown(base * BigInt(view.slots), dip?.multiplier ?? ONE_PPM, ONE_PPM);
  // A share of the balance asks for all of it at most, however often it is multiplied.
  const asked = "share" in terms.sell ? smaller(multiplied, all) : multiplied;
  const shares = sharesOf(terms);
  const perLeg = mostAtOnce(terms, token, view.prices);
  const grown = growWithin(perLeg && wholeOf(perLeg, shares), { own: base, wanted: asked });
  const inBudget = smaller(grown, from.remaining ?? grown);
  const own = cutToPeriod(terms, from.period, { base, raw: inBudget });
  if (typeof own !== "bigint") return own;
  const affordable = coveredBy({ free, all }, terms, { own: base, wanted: own });
  if (typeof affordable !== "bigint") return affordable;
  const most = terms.carry === undefined ? 0n : mulDivDown(base, terms.carry.maxMultiple, ONE_PPM);
  const room = [most, all, ...budgetBounds(from)].map((limit) => limit - affordable).reduce(smaller);
  const kept = keepWithin(shares, from.carry, most > base ? most - base : 0n);
  const { legs, left } = fill(split(affordable, shares), kept, { room, perLeg });
  const carried = legs.reduce((sum, leg) => sum + leg.carried, 0n);
  const total = affordable + carried;
  if (total < (terms.minSell ?? 0n)) {
    const detail = `an order of ${formatAmount({ token, raw: total })} is less than min_sell`;
    return { kind: "skip", reason: "below_minimum_trade", detail };
  }
  const cuts = [grown < asked && "the policy's max_trade lets through", affordable < own && "is free"];
  const detail = describeOrder(token, { total, carried, slots: view.slots, dipNote: dip?.note, cuts });
  return { kind: "order", legs: legs.filter((leg) => leg.own + leg.carried > 0n), left, detail };
}

/**
 * The most that one slot asks for by its own terms: the deepest dip's multiple of its amount, or what may be carried on
 * top of it. @returns undefined for a share of the balance
 */
export function largestOrder({ sell, dips, carry }: DcaTerms): Worth | undefined {
  if ("share" in sell) return undefined;
  const deepest = (dips?.tiers ?? []).map(({ multiplier }) => multiplier).reduce(larger, ONE_PPM);
  const dip = smaller(deepest, dips?.maxMultiplier ?? deepest);
  const multiple = larger(dip, carry?.maxMultiple ?? ONE_PPM);
  if ("usd" in sell) return { usd: mulDivUp(sell.usd, multiple, ONE_PPM) as UsdPrice };
  return { token: sell.token, raw: mulDivUp("raw" in sell ? sell.raw : sell.most, multiple, ONE_PPM) };
}

/** What makes an order another one than a slot's own amount; undefined where nothing does. */
function describeOrder(
  token: Token,
  order: {
    total: bigint;
    carried: bigint;
    slots: number;
    dipNote: string | undefined;
    cuts: readonly (string | false)[];
  },
): string | undefined {
  const notes = [
    order.slots > 1 ? `for ${order.slots} slots` : undefined,
    order.dipNote,
    ...order.cuts.map((bound) => (bound === false ? undefined : `cut to what ${bound}`)),
    order.carried > 0n ? `with ${formatAmount({ token, raw: order.carried })} carried over` : undefined,
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? undefined : `sells ${formatAmount({ token, raw: order.total })}: ${notes.join("; ")}`;
}

/** What one slot sells before anything is multiplied, or why that cannot be said now. */
function baseAmount({ sell, buy }: DcaTerms, view: StrategyView): bigint | Exclude<Order, { kind: "order" }> {
  const { token } = sell;
  if ("raw" in sell) return sell.raw;
  if ("share" in sell) return shareDown(view.free.get(token.address) ?? 0n, sell.share);
  const price = view.prices.get(token.address)?.usd;
  if (price === undefined || price <= 0n) return unpriceable(token);
  if ("usd" in sell) return amountWorthDown(sell.usd, { decimals: token.decimals, usd: price });
  if (!("symbol" in buy)) throw new Error("an amount to be bought is of one token");
  const bought = view.prices.get(buy.address)?.usd;
  if (bought === undefined || bought <= 0n) return unpriceable(buy);
  const raw = convertUp(
    { raw: sell.bought, decimals: buy.decimals, usd: bought },
    { decimals: token.decimals, usd: price },
  );
  if (raw <= sell.most) return raw;
  const wanted = formatAmount({ token: buy, raw: sell.bought });
  const detail = `${wanted} would cost ${formatAmount({ token, raw })}, max_sell is ${formatAmount({ token, raw: sell.most })}`;
  return { kind: "defer", reason: "max_sell_exceeded", detail };
}

function unpriceable(token: Token): Exclude<Order, { kind: "order" }> {
  return { kind: "defer", reason: "unpriceable", detail: `no reference price for ${token.symbol}` };
}

/** What an order with what was carried over may be at most, by the budget. */
function budgetBounds(from: { remaining: bigint | undefined; period: BudgetLeft | undefined }): readonly bigint[] {
  const { remaining, period } = from;
  return [remaining, period?.left].filter((bound) => bound !== undefined);
}

/**
 * A period of the budget leaves less: what there is, where that is worth at least one slot's own amount or the strategy
 * sells parts; else nothing until it renews.
 */
function cutToPeriod(
  terms: DcaTerms,
  period: BudgetLeft | undefined,
  order: { readonly base: bigint; readonly raw: bigint },
): bigint | Exclude<Order, { kind: "order" }> {
  if (period === undefined || order.raw <= period.left) return order.raw;
  const sellsParts = terms.onInsufficient === "partial" || "share" in terms.sell;
  const least = sellsParts ? larger(terms.minSell ?? 1n, 1n) : order.base;
  if (period.left > 0n && period.left >= least) return period.left;
  return { kind: "skip", ...budgetObstacle(period, { wanted: order.raw }, terms.sell.token) };
}

/**
 * What the free balance covers: of what is added to the slot's own amount as much as is there. Where too little is free for
 * that amount itself: nothing, what there is, or a stop until a person resumes.
 */
function coveredBy(
  { free, all }: { readonly free: bigint; readonly all: bigint },
  terms: DcaTerms,
  order: { readonly own: bigint; readonly wanted: bigint },
): bigint | Exclude<Order, { kind: "order" }> {
  const { token } = terms.sell;
  const raw = growWithin(all, order);
  if (raw <= free && raw > 0n) return raw;
  if (order.own === 0n && free > 0n) {
    const least = `the slot's amount is less than the smallest unit, ${formatAmount({ token, raw: 1n })}`;
    return { kind: "skip", reason: "below_minimum_trade", detail: least };
  }
  const detail = `needs ${formatAmount({ token, raw })}, free are ${formatAmount({ token, raw: free })}`;
  if (terms.onInsufficient === "partial" && raw > 0n && all > 0n && all >= (terms.minSell ?? 0n)) return all;
  const pause = terms.onInsufficient === "pause" ? ({ code: "insufficient_balance", detail } as const) : undefined;
  return { kind: "skip", reason: "insufficient_balance", detail, pause };
}

/** Parts of an amount by weight, rounded down; the last one takes the remainder, so they sum to the amount exactly. */
function split(raw: bigint, shares: readonly DcaShare[]): readonly DcaLeg[] {
  let rest = raw;
  return shares.map(({ token, weight }, index) => {
    const own = index === shares.length - 1 ? rest : shareDown(raw, weight);
    rest -= own;
    return { buy: token, own, carried: 0n };
  });
}

/** No leg carries more than its share of what may be carried in all; what a token that is not bought carries is let go. */
function keepWithin(shares: readonly DcaShare[], carry: Carry, limit: bigint): Carry {
  return new Map(split(limit, shares).map(({ buy, own }) => [buy.address, smaller(carry.get(buy.address) ?? 0n, own)]));
}

/** The order whose largest leg is that much, rounded down. */
function wholeOf(leg: bigint, shares: readonly DcaShare[]): bigint {
  return mulDivDown(leg, ONE_PPM, shares.map(({ weight }) => weight).reduce(larger));
}

/** Adds to each leg what it carries, as far as there is room in the order and the policy lets one swap sell it. */
function fill(
  legs: readonly DcaLeg[],
  carry: Carry,
  { room, perLeg }: { room: bigint; perLeg: bigint | undefined },
): { legs: readonly DcaLeg[]; left: Carry } {
  let rest = larger(room, 0n);
  const left = new Map(carry);
  const filled = legs.map((leg) => {
    const held = carry.get(leg.buy.address) ?? 0n;
    const wanted = leg.own + smaller(held, rest);
    const carried = growWithin(perLeg, { own: leg.own, wanted }) - leg.own;
    rest -= carried;
    left.set(leg.buy.address, held - carried);
    return { ...leg, carried };
  });
  return { legs: filled, left };
}
