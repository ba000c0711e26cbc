import { formatPercent, lessShareUp } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import { formatDuration, formatTimeLeft } from "../time/format-duration.ts";
import type { SkipReason } from "./decision.ts";
import { highestHeld, risesAfter } from "./high-water-mark.ts";
import { formatPairPrice, type PairPrice } from "./pair-price.ts";
import { restUntil } from "./rest.ts";
import { ARMED, type Attempts, type Holding, type LegMemory, type LegState } from "./threshold-memory.ts";
import type { Side, ThresholdLeg } from "./threshold-spec.ts";

/** One check of the price. */
export interface PriceSample {
  readonly nowMs: number;
  readonly price: PairPrice;
  /** when the price was seen before, or an own run ended after that; undefined when never */
  readonly beforeMs: number | undefined;
  readonly maxGapSeconds: number;
  /** the token that prices are given in */
  readonly quote: Token;
}

/** What a leg makes of a check: its memory after it, and whether it wants to trade. */
export interface Observed {
  readonly memory: LegMemory;
  readonly wants: boolean;
  readonly reason: SkipReason;
  readonly detail: string;
}

/**
 * Rises above the high-water mark count only once they were seen twice, even where the leg itself asks for no confirmation: a single
 * odd price must not drag the stop behind it.
 */
const HIGH_WATER_SAMPLES = 2;

/** Lets a leg see one price. */
export function observeLeg(leg: ThresholdLeg, before: LegMemory, sample: PriceSample): Observed {
  const memory = leg.trigger.kind === "trail" ? trackHighWaterMark(leg, before, sample) : before;
  const quiet = (reason: SkipReason, detail: string, at: LegState = memory.at): Observed => ({
    memory: { ...memory, at },
    wants: false,
    reason,
    detail,
  });
  switch (memory.at.state) {
    case "done":
      return quiet("already_fired", "it traded for the last time");
    case "cancelled":
      return quiet("already_fired", "another leg traded for the last time");
    case "fired":
      return quiet("already_fired", "the run it started has not ended yet");
    case "cooling": {
      const untilMs = restUntil(memory.at.untilMs, leg.rearm?.cooldownSeconds ?? 0, sample.nowMs);
      const left = untilMs - sample.nowMs;
      if (left > 0)
        return quiet("cooling_down", `${formatTimeLeft(left)} of the cooldown are left`, { state: "cooling", untilMs });
      if (!isRearmed(leg, sample.price))
        return quiet("not_armed", "it is armed again on the far side of the rearm price only");
      return observeArmed(leg, { ...memory, at: ARMED }, sample);
    }
    case "armed":
      return observeArmed(leg, memory, sample);
    case "baseline":
    case "waiting":
    case "given-back":
      return observeUnarmed(leg, memory, sample);
  }
}

/** The first checks, those after a missed crossing, and those after a trigger was given back. */
function observeUnarmed(leg: ThresholdLeg, memory: LegMemory, sample: PriceSample): Observed {
  const condition = conditionOf(leg, memory);
  if (condition === undefined)
    return { memory, wants: false, reason: "not_activated", detail: notActivated(leg, sample) };
  const { state } = memory.at;
  const isFirst = state === "baseline";
  const needsNoCrossing = leg.trigger.kind === "level" || leg.trigger.kind === "limit";
  const firesAnyway = needsNoCrossing ? state !== "given-back" : isFirst && leg.ifAlreadyTrue === "fire";
  if (!isTrue(condition, sample.price) || firesAnyway) {
    // what has seen nothing has missed nothing
    return observeArmed(leg, { ...memory, at: ARMED }, isFirst ? { ...sample, beforeMs: undefined } : sample);
  }
  const detail = isFirst
    ? "true from the start, so it waits for a crossing"
    : "it must be seen on the other side first";
  return {
    memory: { ...memory, at: state === "given-back" ? memory.at : { state: "waiting" } },
    wants: false,
    reason: "not_armed",
    detail: `${describe(condition, sample)}: ${detail}`,
  };
}

function observeArmed(leg: ThresholdLeg, memory: LegMemory, sample: PriceSample): Observed {
  const condition = conditionOf(leg, memory);
  if (condition === undefined)
    return { memory, wants: false, reason: "not_activated", detail: notActivated(leg, sample) };
  const seen = describe(condition, sample);
  if (!isTrue(condition, sample.price)) {
    return { memory: { ...memory, at: ARMED }, wants: false, reason: "not_triggered", detail: seen };
  }
  const attempts: Attempts = memory.at.state === "armed" ? memory.at : ARMED_ATTEMPTS;
  const isCrossing = leg.trigger.kind === "cross" || leg.trigger.kind === "trail";
  const wasMissed = attempts.holding === undefined && isCrossing && isBlind(sample);
  if (wasMissed && leg.onMissed === "ignore") {
    const detail = `${seen}: it crossed while nobody looked, so it must be seen on the other side first`;
    return { memory: { ...memory, at: { state: "waiting" } }, wants: false, reason: "not_armed", detail };
  }
  const holding = holdOn(attempts.holding, sample);
  const after: LegMemory = { ...memory, at: { state: "armed", ...attempts, holding } };
  const wants = isConfirmed(holding, leg.confirm, sample.nowMs);
  const restMs = restLeftMs(attempts, sample.nowMs);
  if (wants && restMs > 0) {
    const detail = `${seen}: ${attempts.failures} attempts in a row came to nothing, the next one is ${formatTimeLeft(restMs)} away`;
    return { memory: after, wants: false, reason: "backing_off", detail };
  }
  const { samples } = leg.confirm;
  const held = `${seen}: held for ${formatDuration(sample.nowMs - holding.sinceMs)} and ${holding.samples} of ${samples} looks`;
  return { memory: after, wants, reason: "confirming", detail: held };
}

const ARMED_ATTEMPTS: Attempts = { failures: 0, unmet: 0 };

/** From the beginning of an attempt to that of the next: a little less than a minute at most, so that a check each minute makes one. */
const REST_SECONDS = [0, 5, 10, 20, 40, 55] as const;

/**
 * How long a trigger still rests after attempts that came to nothing; an unmet floor is none. One that began later than
 * now began by a clock that ran ahead: it is not known when, so nothing waits for it.
 */
function restLeftMs({ failures, triedMs, endedMs }: Attempts, nowMs: number): number {
  const seconds = REST_SECONDS[Math.min(failures, REST_SECONDS.length - 1)] ?? 0;
  const sinceMs = triedMs ?? endedMs;
  return sinceMs === undefined || sinceMs > nowMs ? 0 : sinceMs + seconds * 1_000 - nowMs;
}

/**
 * A condition that holds goes on holding; after a time without a check that is not known, so its timer starts again.
 * Where it began by a clock that ran ahead, it begins now.
 */
function holdOn(before: Holding | undefined, sample: PriceSample): Holding {
  if (before === undefined || isBlind(sample)) return { sinceMs: sample.nowMs, samples: 1 };
  return { sinceMs: Math.min(before.sinceMs, sample.nowMs), samples: before.samples + 1 };
}

/** Whether too much time passed since the last check. */
function isBlind(sample: PriceSample): boolean {
  return sample.beforeMs !== undefined && sample.nowMs - sample.beforeMs > sample.maxGapSeconds * 1_000;
}

function isConfirmed(holding: Holding, confirm: ThresholdLeg["confirm"], nowMs: number): boolean {
  return holding.samples >= confirm.samples && nowMs - holding.sinceMs >= confirm.forSeconds * 1_000;
}

function isRearmed(leg: ThresholdLeg, price: PairPrice): boolean {
  const { trigger, rearm } = leg;
  if (rearm === undefined || trigger.kind === "trail") return false;
  if (rearm.price === undefined) return true;
  return isTrue({ side: trigger.side === "above" ? "below" : "above", price: rearm.price }, price);
}

interface Condition {
  readonly side: Side;
  readonly price: PairPrice;
}

/** Where the leg's condition stands now. @returns undefined for a trailing stop that is not active yet */
export function conditionOf({ trigger }: ThresholdLeg, { trail }: LegMemory): Condition | undefined {
  if (trigger.kind !== "trail") return trigger;
  return trail === undefined ? undefined : { side: "below", price: BigInt(trail.stop) as PairPrice };
}

/** Reaching the level counts. */
function isTrue(condition: Condition, price: PairPrice): boolean {
  return condition.side === "above" ? price >= condition.price : price <= condition.price;
}

/**
 * Moves the high-water mark up to the highest price that held for long enough, in whatever checks, and the stop after it. Both only
 * ever rise. A stop that an edit brought
 * closer is taken over at a check that finds the price above it: an edit alone never sells.
 */
function trackHighWaterMark(leg: ThresholdLeg, memory: LegMemory, sample: PriceSample): LegMemory {
  if (leg.trigger.kind !== "trail") return memory;
  const { share, activateAt } = leg.trigger;
  const known = memory.trail === undefined ? undefined : BigInt(memory.trail.mark);
  const above = known ?? (activateAt === undefined ? undefined : activateAt - 1n);
  const seen = { nowMs: sample.nowMs, price: sample.price, isBlind: isBlind(sample) };
  const rises = risesAfter(memory.rises ?? [], seen, above);
  const needed = { ...leg.confirm, samples: Math.max(leg.confirm.samples, HIGH_WATER_SAMPLES) };
  const mark = highestHeld(rises, needed, sample.nowMs) ?? known;
  if (mark === undefined) return { ...memory, rises };
  const inForce = BigInt(memory.trail?.stop ?? 0);
  const wanted = lessShareUp(mark, share);
  const stop = wanted > inForce && sample.price > wanted ? wanted : inForce;
  return {
    ...memory,
    trail: { mark: mark.toString(), stop: stop.toString() },
    rises: rises.filter(({ price }) => BigInt(price) > mark),
  };
}

function describe(condition: Condition, sample: PriceSample): string {
  const [price, level] = [sample.price, condition.price].map((one) => formatPairPrice(one, sample.quote));
  return `the price is ${price}, the level is ${level}`;
}

function notActivated(leg: ThresholdLeg, sample: PriceSample): string {
  const price = formatPairPrice(sample.price, sample.quote);
  if (leg.trigger.kind !== "trail") return `the price is ${price}`;
  const { share, activateAt } = leg.trigger;
  const from = activateAt === undefined ? "a confirmed price" : formatPairPrice(activateAt, sample.quote);
  return `the price is ${price}; the stop trails by ${formatPercent(share)} from ${from} on`;
}
