import { formatAmount } from "../money/amount.ts";
import { larger, smaller } from "../money/bigint.ts";
import { lessShareUp, ONE_PPM, shareDown } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import type { Rate, SkipReason } from "./decision.ts";
import type { MostSold } from "./kind.ts";
import { type PairPrice, rateAt } from "./pair-price.ts";
import { conditionOf } from "./threshold-leg.ts";
import { isOver, type LegMemory, legOf, type ThresholdMemory } from "./threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec } from "./threshold-spec.ts";

/** What a leg sells now. `allocation` is the original allocation, where the strategy has one. */
export interface Sale {
  readonly raw: bigint;
  readonly allocation: bigint | undefined;
}

/** Why a leg sells nothing, amounts in the sold token's smallest unit. */
export type NoSale =
  | { readonly lacks: "balance"; readonly wanted: bigint }
  | { readonly lacks: "allocation"; readonly wanted: bigint; readonly left: bigint; readonly of: bigint }
  /** the share comes to less than the smallest unit */
  | { readonly lacks: "unit" };

/**
 * Sizes a leg's sale, in the sold token's smallest unit. All legs together never sell more than the allocation: what was sold
 * of it is measured. A share takes what is there; a fixed amount needs all of it.
 */
export function sizeSale(
  spec: ThresholdSpec,
  leg: ThresholdLeg,
  has: {
    readonly free: bigint;
    /** {@link allOf} it: what a share is at most */
    readonly all: bigint;
    readonly memory: ThresholdMemory;
  },
): Sale | NoSale {
  const { free, all, memory } = has;
  const { amount } = leg;
  const allocation = allocationOf(spec, has);
  const left = allocation === undefined ? free : larger(allocation - BigInt(memory.sold), 0n);
  // what is free is an allocation of its own only once something of it is sold
  const isBound = allocation !== undefined && (spec.allocation !== "free" || memory.sold !== "0");
  const least = "raw" in amount ? amount.raw : 1n;
  if (isBound && left < least) return { lacks: "allocation", wanted: least, left, of: allocation };
  if ("raw" in amount) {
    return amount.raw > free ? { lacks: "balance", wanted: amount.raw } : { raw: amount.raw, allocation };
  }
  const wanted =
    leg.role === "only"
      ? shareDown(left, amount.share)
      : ofLevel(spec, leg.id, { allocation: allocation ?? free, memory });
  if (all === 0n) return { lacks: "balance", wanted };
  const raw = [wanted, left, all].reduce(smaller);
  return raw === 0n ? { lacks: "unit" } : { raw, allocation };
}

/** What is said of a leg that is triggered and sells nothing. */
export function describeNoSale(
  sale: NoSale,
  { token, free }: { readonly token: Token; readonly free: bigint },
): { readonly reason: SkipReason; readonly detail: string } {
  const text = (raw: bigint) => formatAmount({ token, raw });
  switch (sale.lacks) {
    case "balance": {
      const needs = sale.wanted === 0n ? "more" : text(sale.wanted);
      return { reason: "insufficient_balance", detail: `needs ${needs}, and ${text(free)} are free` };
    }
    case "allocation": {
      const needs = sale.left === 0n ? "" : `, and it would sell ${text(sale.wanted)}`;
      const left = sale.left === 0n ? "nothing is" : `${text(sale.left)} are`;
      return { reason: "budget_spent", detail: `${left} left of the allocation of ${text(sale.of)}${needs}` };
    }
    case "unit":
      return {
        reason: "below_minimum_trade",
        detail: `its share comes to less than the smallest unit of ${token.symbol}`,
      };
  }
}

/**
 * What is free when the first sale is made is the original allocation; until something of it is sold it is measured anew.
 * Where another database made that sale, what it sold was free too.
 */
function allocationOf(spec: ThresholdSpec, has: { free: bigint; memory: ThresholdMemory }): bigint | undefined {
  if (spec.allocation !== "free") return spec.allocation?.raw;
  const { allocation, sold, accepted = "0" } = has.memory;
  if (sold === "0") return has.free;
  return allocation === undefined ? has.free + BigInt(accepted) : BigInt(allocation);
}

/** A level's share of the original allocation; the last one that sells takes what rounding left of a whole one. */
function ofLevel({ legs }: ThresholdSpec, id: string, of: { allocation: bigint; memory: ThresholdMemory }): bigint {
  const { allocation, memory } = of;
  const levels = legs.flatMap(({ role, amount, ...leg }) =>
    role === "level" && "share" in amount ? [{ ...leg, ...amount, own: shareDown(allocation, amount.share) }] : [],
  );
  const at = levels.findIndex((level) => level.id === id);
  // one before it that comes to less than the smallest unit never sells
  const isLast = levels.every(
    (level, place) => place === at || legOf(memory, level.id).at.state === "done" || (place < at && level.own === 0n),
  );
  const sum = levels.reduce((total, { share }) => total + share, 0n);
  if (!isLast || sum !== ONE_PPM) return levels[at]?.own ?? 0n;
  // what rounding leaves over is too small for a sale of its own, so it joins the last level of a whole allocation
  return levels.reduce((rest, { own }, place) => (place === at ? rest : rest - own), allocation);
}

/** Whether so little is left, in the sold token's smallest unit, that no leg which may still trade sells of it. */
export function isTooLittleForAll(spec: ThresholdSpec, memory: ThresholdMemory, left: bigint): boolean {
  const { minFill = 1n } = spec;
  return openLegs(spec, memory).every(({ amount }) => left < ("raw" in amount ? amount.raw : minFill));
}

/** The legs of the file that may still trade. */
function openLegs({ legs }: ThresholdSpec, memory: ThresholdMemory): readonly ThresholdLeg[] {
  return legs.filter(({ id }) => !isOver(legOf(memory, id).at));
}

/**
 * The most that the legs which may still trade sell: the largest of them in a run, and what is left of what they share, or
 * all of them where each sells but once.
 */
export function mostSold(spec: ThresholdSpec, memory: ThresholdMemory): MostSold {
  const { sell: token, allocation, untilMs } = spec;
  const legs = openLegs(spec, memory);
  const fixed = legs.flatMap(({ amount }) => ("raw" in amount ? [amount.raw] : []));
  const isFixed = fixed.length === legs.length;
  const own = typeof allocation === "object" ? allocation.raw : undefined;
  const largest = isFixed ? fixed.reduce(larger, 0n) : own;
  const isOnce = legs.every(({ rearm }) => rearm === undefined);
  const once = isFixed && isOnce ? fixed.reduce((sum, raw) => sum + raw, 0n) : undefined;
  const left = own === undefined ? once : own - BigInt(memory.sold);
  const [only] = legs.length === 1 ? legs : [];
  return {
    perRun: largest === undefined ? undefined : { token, raw: largest },
    runs: isOnce ? legs.length : undefined,
    left: left === undefined ? undefined : { token, raw: left },
    restSeconds: only?.rearm?.cooldownSeconds,
    untilMs,
  };
}

/** The worst rate at which a leg may be filled now, all fees included. @returns undefined when it has no floor */
export function floorOf(spec: ThresholdSpec, leg: ThresholdLeg, memory: LegMemory): Rate | undefined {
  const { floor } = leg;
  const sells = spec.sell.address === spec.watch.address ? "watch" : "quote";
  if (floor === undefined) return undefined;
  if ("price" in floor) return rateAt(floor.price, spec, sells);
  const trigger = conditionOf(leg, memory);
  if (trigger === undefined) throw new Error(`leg "${leg.id}" fires without a trigger price`);
  const unmet = memory.at.state === "armed" ? memory.at.unmet : 0;
  const share = floor.steps[Math.min(unmet, floor.steps.length - 1)] ?? floor.steps[0];
  if (share === undefined) throw new Error(`leg "${leg.id}" has a floor without a step`);
  // a buyer's worst price lies above the trigger, a seller's below it
  const price = sells === "watch" ? lessShareUp(trigger.price, share) : shareDown(trigger.price, moreBy(share));
  return rateAt(price as PairPrice, spec, sells);
}

function moreBy(share: typeof ONE_PPM): typeof ONE_PPM {
  return (ONE_PPM + share) as typeof ONE_PPM;
}
