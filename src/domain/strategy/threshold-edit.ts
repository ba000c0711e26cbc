import { isSameWallet } from "./common.ts";
import {
  FRESH_LEG,
  type Gone,
  type LegMemory,
  type LegState,
  legMemory,
  type ThresholdMemory,
} from "./threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec, Trigger } from "./threshold-spec.ts";

/** Of so many legs that are in the file no more the memory is kept: of those that were there last. */
const MOST_GONE = 100;

/**
 * The memory under an edited file. Legs keep theirs by id, also while they are out of the file: one that is put back
 * finds it as it was, and the time between is one without a check. A leg whose trigger moved sees the next price as its
 * first one, so that an edit alone never trades; how often it traded stays counted. A trailing stop keeps its high-water
 * mark and the stop in force, which an edit may bring closer and never push away. Prices are the same for every wallet, but
 * another wallet has another allocation, of which nothing is sold yet.
 */
export function editThresholdMemory(
  before: ThresholdSpec,
  after: ThresholdSpec,
  memory: ThresholdMemory,
): ThresholdMemory {
  // a file as it was stored before strategies had legs: what is remembered of it is worth more than the comparison
  if (!Array.isArray(before.legs)) return memory;
  if (!isSamePair(before, after)) return ofAnotherPair(before, after, memory);
  const revived = after.legs.some((leg) => {
    const known = legMemory(memory, leg.id);
    return known?.at.state === "done" && mayGoOn(leg, known.fills);
  });
  const here: (readonly [string, LegMemory])[] = [];
  const gone: (readonly [string, LegMemory & { readonly gone: Gone }])[] = [];
  for (const [id, known] of Object.entries(memory.legs)) {
    const left = known.gone ?? leftNow(before, memory, id);
    const leg = after.legs.find((one) => one.id === id);
    const kept = revived && known.at.state === "cancelled" ? freshAfter(known.fills) : known;
    if (leg === undefined) gone.push([id, { ...kept, gone: left }]);
    else here.push([id, editLeg(left.trigger, leg, kept)]);
  }
  gone.sort(([, one], [, other]) => other.gone.seenMs - one.gone.seenMs);
  const edited = { ...memory, legs: Object.fromEntries([...here, ...gone.slice(0, MOST_GONE)]) };
  return isSameWallet(before, after) ? edited : { ...edited, allocation: undefined, sold: "0" };
}

/** Nothing is sold of its allocation yet: what another database sold of the same token was of the one before. */
function ofAnotherPair(before: ThresholdSpec, after: ThresholdSpec, { accepted }: ThresholdMemory): ThresholdMemory {
  const anew = { version: 2, legs: {}, sold: "0" } as const;
  return before.sell.address === after.sell.address ? { ...anew, accepted } : anew;
}

/** What is remembered of a leg of the file before, should it be out of the one after. */
function leftNow({ legs }: ThresholdSpec, { seenMs = 0 }: ThresholdMemory, id: string): Gone {
  const leg = legs.find((one) => one.id === id);
  return { seenMs, trigger: leg === undefined ? "" : textOf(leg.trigger) };
}

function isSamePair(before: ThresholdSpec, after: ThresholdSpec): boolean {
  return (["sell", "buy", "watch", "quote"] as const).every((key) => before[key].address === after[key].address);
}

function editLeg(trigger: string, after: ThresholdLeg, memory: LegMemory): LegMemory {
  const { at, fills } = memory;
  const state = (next: LegState): LegMemory => ({ ...memory, at: next });
  switch (at.state) {
    case "fired":
    case "cancelled":
      return memory;
    case "done": {
      if (after.rearm === undefined || !mayGoOn(after, fills)) return memory;
      return state({ state: "cooling", untilMs: at.atMs + after.rearm.cooldownSeconds * 1_000 });
    }
    case "cooling":
      if (mayGoOn(after, fills)) return memory;
      return fills > 0 ? state({ state: "done", atMs: at.untilMs }) : FRESH_LEG;
    default:
      if (hasTradedEnough(after, fills)) return ended(memory);
      return trigger === textOf(after.trigger) ? memory : freshAfter(fills);
  }
}

/** A leg that has seen nothing under its trigger, and traded so often before. */
function freshAfter(fills: number): LegMemory {
  return { ...FRESH_LEG, fills };
}

/** A leg that an edit ended while it could trade: its last cooldown was over. */
export function ended(memory: LegMemory): LegMemory {
  return { ...memory, at: { state: "done", atMs: 0 } };
}

/** Whether a leg traded as often as it may: once without `rearm`. */
export function hasTradedEnough(leg: ThresholdLeg, fills: number): boolean {
  return fills > 0 && !mayGoOn(leg, fills);
}

function mayGoOn({ rearm }: ThresholdLeg, fills: number): boolean {
  return rearm !== undefined && (rearm.times === undefined || fills <= rearm.times);
}

/** What of a trigger an edit may not touch: of a trailing stop anything may be edited. */
function textOf(trigger: Trigger): string {
  return trigger.kind === "trail" ? "trail" : `${trigger.kind} ${trigger.side} ${trigger.price}`;
}
