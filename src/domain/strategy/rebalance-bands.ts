import { ONE_PPM } from "../money/fraction.ts";
import { formatTimeLeft } from "../time/format-duration.ts";
import type { SkipReason } from "./decision.ts";
import type { RebalanceMemory } from "./rebalance-memory.ts";
import { type Mix, type Position, rawOf } from "./rebalance-mix.ts";
import type { Band, BandRules } from "./rebalance-spec.ts";

/** Band widths are shares scaled by 1e12: a relative band of a weight is then exact. */
const SCALE = ONE_PPM * ONE_PPM;

/**
 * How far a weight w may be from its target t: the absolute band, or the relative one times t; the narrower of two where
 * any of them suffices, the wider where all must be exceeded.
 */
function widthOf(band: Band, weight: bigint, trigger: BandRules["trigger"]): bigint {
  const absolute = band.absolute === undefined ? undefined : band.absolute * ONE_PPM;
  const relative = band.relative === undefined ? undefined : band.relative * weight;
  if (absolute === undefined || relative === undefined) return absolute ?? relative ?? SCALE;
  return absolute < relative === (trigger === "any") ? absolute : relative;
}

/** Compared without division, so nothing is rounded; the very edge still belongs to the band. */
function isOutside(position: Position, total: bigint, width: bigint): boolean {
  const drift = position.value * ONE_PPM - position.target.weight * total;
  return (drift < 0n ? -drift : drift) * ONE_PPM > width * total;
}

/** Whether something is left of a token that shall be sold out, enough for a trade. */
function isLeftToExit(mix: Mix, position: Position): boolean {
  return position.target.exit && position.sellable >= rawOf(mix, position.token, mix.minValue);
}

/** Whether a weight is outside its inner band, which is where a rebalance to the edge brings it back to. */
export function isOutsideInnerBand(mix: Mix, position: Position, rules: BandRules): boolean {
  if (position.target.exit) return isLeftToExit(mix, position);
  const band = position.target.soft ?? position.target.hard;
  return band !== undefined && isOutside(position, mix.total, widthOf(band, position.target.weight, rules.trigger));
}

/** Half the width of the inner band in dollars (1e-18), rounded down: inside it. */
export function innerBandValue(mix: Mix, position: Position, rules: BandRules): bigint {
  const band = position.target.soft ?? position.target.hard;
  if (band === undefined) return 0n;
  return (mix.total * widthOf(band, position.target.weight, rules.trigger)) / SCALE;
}

/** Since when weights have been outside their bands without a break, as far as checks showed. */
export function checkBands(
  rules: BandRules,
  mix: Mix,
  memory: RebalanceMemory,
  nowMs: number,
): Pick<RebalanceMemory, "softSinceMs" | "hardSinceMs" | "lookedMs"> {
  const isBlind = memory.lookedMs !== undefined && nowMs - memory.lookedMs > rules.maxGapSeconds * 1_000;
  const since = (isBreached: boolean, before: number | undefined): number | undefined => {
    if (!isBreached) return undefined;
    return before === undefined || isBlind || before > nowMs ? nowMs : before;
  };
  const breaks = (name: "soft" | "hard"): boolean =>
    mix.positions.some((position) => {
      if (position.target.exit) return name === "soft" && isLeftToExit(mix, position);
      const band = position.target[name];
      return band !== undefined && isOutside(position, mix.total, widthOf(band, position.target.weight, rules.trigger));
    });
  return {
    softSinceMs: since(breaks("soft"), memory.softSinceMs),
    hardSinceMs: since(breaks("hard"), memory.hardSinceMs),
    lookedMs: nowMs,
  };
}

/**
 * Whether the bands ask for a rebalance now. The soft band waits for its confirmation and for the cooldown, the hard
 * band for its own confirmation only.
 * @returns undefined when they do
 */
export function reasonToWait(
  rules: BandRules,
  memory: RebalanceMemory,
  nowMs: number,
): { readonly reason: SkipReason; readonly detail: string } | undefined {
  const { softSinceMs, hardSinceMs, doneMs } = memory;
  if (softSinceMs === undefined && hardSinceMs === undefined) return { reason: "within_bands", detail: "" };
  const left = (sinceMs: number, seconds: number): number => sinceMs + seconds * 1_000 - nowMs;
  const hardLeft = hardSinceMs === undefined ? undefined : left(hardSinceMs, rules.hard.forSeconds);
  if (hardLeft !== undefined && hardLeft <= 0) return undefined;
  const softLeft = softSinceMs === undefined ? undefined : left(softSinceMs, rules.soft.forSeconds);
  const coolingLeft = doneMs === undefined ? 0 : left(doneMs, rules.soft.cooldownSeconds);
  if (softLeft !== undefined && softLeft <= 0) {
    if (coolingLeft <= 0) return undefined;
    return { reason: "cooling_down", detail: `${formatTimeLeft(coolingLeft)} of the cooldown are left; ` };
  }
  const shortest = Math.min(softLeft ?? Number.POSITIVE_INFINITY, hardLeft ?? Number.POSITIVE_INFINITY);
  return { reason: "confirming", detail: `outside for too short a time, ${formatTimeLeft(shortest)} are left; ` };
}
