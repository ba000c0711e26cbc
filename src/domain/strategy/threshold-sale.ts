import { larger, smaller } from "../money/bigint.ts";
import { lessShareUp, ONE_PPM, shareDown } from "../money/fraction.ts";
import type { Rate } from "./decision.ts";
import type { MostSold } from "./kind.ts";
import { type PairPrice, rateAt } from "./pair-price.ts";
import { conditionOf } from "./threshold-leg.ts";
import { isOver, type LegMemory, legMemory, legOf, type ThresholdMemory } from "./threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec } from "./threshold-spec.ts";

/** What a leg sells now. `allocation` is the original allocation, where the strategy has one. */
export interface Sale {
  readonly raw: bigint;
  readonly allocation: bigint | undefined;
}

/**
 * Sizes a leg's sale, in the sold token's smallest unit. All legs together never sell more than the allocation: what was sold
 * of it is measured. A share takes what is there; a fixed amount needs all of it.
 * @returns the amount that is missing when there is too little; `raw` is then what it would sell
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
): Sale | { readonly tooLittle: bigint } {
  const { free, all, memory } = has;
  const allocation = allocationOf(spec, has);
  if (allocation === undefined) {
    const raw = "raw" in leg.amount ? leg.amount.raw : smaller(shareDown(free, leg.amount.share), all);
    return raw === 0n || free < raw ? { tooLittle: raw } : { raw, allocation };
  }
  const sold = BigInt(memory.sold);
  const left = allocation > sold ? allocation - sold : 0n;
  const wanted = wantedOf(spec, leg, { allocation, left, memory });
  if ("raw" in leg.amount) return wanted > smaller(free, left) ? { tooLittle: wanted } : { raw: wanted, allocation };
  const raw = [wanted, left, all].reduce(smaller);
  return raw === 0n ? { tooLittle: wanted } : { raw, allocation };
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

function wantedOf(
  spec: ThresholdSpec,
  leg: ThresholdLeg,
  of: { allocation: bigint; left: bigint; memory: ThresholdMemory },
): bigint {
  if ("raw" in leg.amount) return leg.amount.raw;
  if (leg.role === "only") return shareDown(of.left, leg.amount.share);
  const levels = spec.legs.filter(({ role }) => role === "level");
  const isLast = levels.every(({ id }) => id === leg.id || legMemory(of.memory, id)?.at.state === "done");
  const sum = levels.reduce((total, { amount }) => total + ("share" in amount ? amount.share : 0n), 0n);
  const own = shareDown(of.allocation, leg.amount.share);
  if (!isLast || sum !== ONE_PPM) return own;
  // what rounding leaves over is too small for a sale of its own, so it joins the last level of a whole allocation
  const shares = levels.map(({ amount }) => ("share" in amount ? shareDown(of.allocation, amount.share) : 0n));
  return own + shares.reduce((rest, share) => rest - share, of.allocation);
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
