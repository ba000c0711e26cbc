import { isCount, isRecord } from "../json.ts";
import { parseRaw } from "../money/amount.ts";

/** Since when a condition holds without a check that saw it broken, and how many checks saw it hold. */
export interface Holding {
  readonly sinceMs: number;
  readonly samples: number;
}

/** Attempts of one crossing that bought nothing. */
export interface Attempts {
  /** in a row that came to nothing for any reason but the floor and a dry run: the more, the longer the next one waits */
  readonly failures: number;
  /** of which something was signed: after too many of these the trigger is given back; absent: none */
  readonly signed?: number | undefined;
  /** when the last one began */
  readonly triedMs?: number | undefined;
  /** that found no fill at the floor; a dry run is none of them */
  readonly unmet: number;
  /** the crossing as it was confirmed; undefined while it is not true */
  readonly holding?: Holding | undefined;
  /** when the last of them ended: older releases wrote it, some of them without `triedMs` */
  readonly endedMs?: number | undefined;
}

/**
 * Where a leg stands.
 * - `baseline`: no price seen yet; the first one only says on which side it stands.
 * - `waiting`: the condition was true without firing; the price must be seen on the other side first.
 * - `given-back`: several swaps were signed and came to nothing; the price must be seen on the other side first.
 * - `armed`: the next time the condition is true, and confirmed, it fires. After a failed attempt it is still armed.
 * - `fired`: latched until the run that it started has ended.
 * - `cooling`: it traded; it is armed again once the cooldown is over **and** the price is on the far side.
 * - `done`: it traded for the last time.
 * - `cancelled`: another leg of the group traded for the last time.
 */
export type LegState =
  | { readonly state: "baseline" | "waiting" | "given-back" | "cancelled" }
  | ({ readonly state: "armed" } & Attempts)
  | ({ readonly state: "fired"; readonly slotMs: number } & Attempts)
  | { readonly state: "cooling"; readonly untilMs: number }
  | { readonly state: "done"; readonly atMs: number };

/** What a trailing stop knows. Prices are `PairPrice`s as text. */
export interface Trail {
  /** the highest confirmed price; it is never lowered */
  readonly mark: string;
  /** the stop in force; it is never lowered either, whatever the file says later */
  readonly stop: string;
}

/** A price above the high-water mark that the last checks never fell below, and since when. */
export interface Rise extends Holding {
  readonly price: string;
}

/** Since when the file has been without a leg. */
export interface Gone {
  /** when the leg last saw the price */
  readonly seenMs: number;
  /** the trigger that it had, as text: under another one it begins anew when it comes back */
  readonly trigger: string;
}

/** What is remembered of one leg. */
export interface LegMemory {
  readonly at: LegState;
  /** how often it traded */
  readonly fills: number;
  readonly trail?: Trail | undefined;
  /** from the lowest price to the newest */
  readonly rises?: readonly Rise[] | undefined;
  /** of a leg that was taken out of the file, until the first check after it was put back */
  readonly gone?: Gone | undefined;
}

/** What a threshold strategy remembers. */
export interface ThresholdMemory {
  readonly version: 2;
  /**
   * when the price was last seen, Unix milliseconds; while an own run is open there are no checks, so its end counts as
   * one
   */
  readonly seenMs?: number | undefined;
  readonly legs: Readonly<Record<string, LegMemory>>;
  /** the original allocation, as it was measured at the first sale; and what was sold of it. Smallest units as text. */
  readonly allocation?: string | undefined;
  readonly sold: string;
  /** what of it a person accepted as sold by another database; absent: nothing */
  readonly accepted?: string | undefined;
}

/** The id of a leg that stands at the top of its file without one. */
export const ONLY_LEG = "main";

/** A leg that has seen nothing. */
export const FRESH_LEG: LegMemory = { at: { state: "baseline" }, fills: 0 };

/** What is remembered of a leg; ids come from files, and one may be called like a property that every object has. */
export function legMemory(memory: ThresholdMemory, id: string): LegMemory | undefined {
  return Object.hasOwn(memory.legs, id) ? memory.legs[id] : undefined;
}

/** What is remembered of a leg; one that was never seen has seen nothing. */
export function legOf(memory: ThresholdMemory, id: string): LegMemory {
  return legMemory(memory, id) ?? FRESH_LEG;
}

/** Whether a leg trades no more. */
export function isOver({ state }: LegState): boolean {
  return state === "done" || state === "cancelled";
}

/** An armed leg without attempts. */
export const ARMED: LegState = { state: "armed", failures: 0, unmet: 0 };

/** Reads stored memory, also of version 1, which had one leg. @returns undefined when it is none */
export function parseThresholdMemory(json: unknown): ThresholdMemory | undefined {
  if (!isRecord(json)) return undefined;
  if (json.version === 1) {
    const at = parseState({ atMs: 0, unmet: 0, ...json });
    if (at === undefined) return undefined;
    const fills = at.state === "cooling" || at.state === "done" ? 1 : 0;
    return { version: 2, legs: { [ONLY_LEG]: { at, fills } }, sold: "0" };
  }
  const { version, seenMs, legs, sold, accepted } = json;
  // an older release called it the bag
  const allocation = json.allocation ?? json.bag;
  if (version !== 2 || !isRecord(legs) || !isAmount(sold)) return undefined;
  if (!isOptional(seenMs, isCount) || !isOptional(allocation, isAmount)) return undefined;
  if (!isOptional(accepted, isAmount)) return undefined;
  const read = parseLegs(legs);
  return read === undefined ? undefined : { version, seenMs, legs: read, allocation, sold, accepted };
}

function parseLegs(legs: Readonly<Record<string, unknown>>): ThresholdMemory["legs"] | undefined {
  const read: Record<string, LegMemory> = {};
  for (const [id, leg] of Object.entries(legs)) {
    const parsed = parseLeg(leg);
    if (parsed === undefined) return undefined;
    read[id] = parsed;
  }
  return read;
}

/** What a person accepted as sold by another database is sold of the allocation too, once. */
export function withAccepted(memory: ThresholdMemory, accepted: bigint): ThresholdMemory {
  const more = accepted - BigInt(memory.accepted ?? "0");
  if (more <= 0n) return memory;
  return { ...memory, sold: (BigInt(memory.sold) + more).toString(), accepted: accepted.toString() };
}

function parseLeg(json: unknown): LegMemory | undefined {
  if (!isRecord(json) || !isCount(json.fills)) return undefined;
  const { fills, trail, rise, gone } = json;
  const at = parseState(json.at);
  // an older release kept one rise, with the lowest price since it began
  const rises = json.rises ?? (rise === undefined ? undefined : [rise]);
  if (at === undefined || !isOptional(trail, isTrail) || !isOptional(rises, areRises)) return undefined;
  return isOptional(gone, isGone) ? { at, fills, trail, rises, gone } : undefined;
}

function parseState(json: unknown): LegState | undefined {
  if (!isRecord(json)) return undefined;
  const { state, slotMs, untilMs, atMs } = json;
  switch (state) {
    case "baseline":
    case "waiting":
    case "given-back":
    case "cancelled":
      return { state };
    case "armed": {
      const attempts = parseAttempts(json);
      return attempts === undefined ? undefined : { state, ...attempts };
    }
    case "fired": {
      const attempts = parseAttempts(json);
      return attempts === undefined || !isCount(slotMs) ? undefined : { state, slotMs, ...attempts };
    }
    case "cooling":
      return isCount(untilMs) ? { state, untilMs } : undefined;
    case "done":
      return isCount(atMs) ? { state, atMs } : undefined;
    default:
      return undefined;
  }
}

function parseAttempts(json: Readonly<Record<string, unknown>>): Attempts | undefined {
  const { failures, signed, unmet, holding, triedMs, endedMs } = json;
  if (!isCount(failures) || !isCount(unmet) || !isOptional(signed, isCount)) return undefined;
  if (!isOptional(holding, isHolding) || !isOptional(triedMs, isCount) || !isOptional(endedMs, isCount))
    return undefined;
  return { failures, signed, unmet, holding, triedMs, endedMs };
}

function isOptional<T>(json: unknown, is: (json: unknown) => json is T): json is T | undefined {
  return json === undefined || is(json);
}

function isAmount(json: unknown): json is string {
  return parseRaw(json) !== undefined;
}

function isHolding(json: unknown): json is Holding {
  return isRecord(json) && isCount(json.sinceMs) && isCount(json.samples);
}

function isTrail(json: unknown): json is Trail {
  return isRecord(json) && isAmount(json.mark) && isAmount(json.stop);
}

function isGone(json: unknown): json is Gone {
  return isRecord(json) && isCount(json.seenMs) && typeof json.trigger === "string";
}

function areRises(json: unknown): json is readonly Rise[] {
  return Array.isArray(json) && json.every(isRise);
}

function isRise(json: unknown): json is Rise {
  return isRecord(json) && isHolding(json) && "price" in json && isAmount(json.price);
}
