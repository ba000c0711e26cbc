import { isSameWallet } from "./common.ts";
import { FRESH_LEG, type LegMemory, type LegState, legMemory, type ThresholdMemory } from "./threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec, Trigger } from "./threshold-spec.ts";

/**
 * The memory under an edited file. Legs keep theirs by id. A leg whose trigger moved sees the next price as its first one,
 * so that an edit alone never trades; a trailing stop keeps its mark and the stop in force, which an edit may bring closer
 * and never push away. What a leg that was taken out is still doing is remembered until it has ended. Prices are the
 * same for every wallet, but another wallet has another bag, of which nothing is sold yet.
 */
export function editThresholdMemory(
  before: ThresholdSpec,
  after: ThresholdSpec,
  memory: ThresholdMemory,
): ThresholdMemory {
  // a file as it was stored before strategies had legs: what is remembered of it is worth more than the comparison
  if (!Array.isArray(before.legs)) return memory;
  if (!isSamePair(before, after)) return { version: 2, legs: {}, sold: "0" };
  const revived = after.legs.some((leg) => {
    const known = legMemory(memory, leg.id);
    return known?.at.state === "done" && mayGoOn(leg, known.fills);
  });
  const legs = new Map<string, LegMemory>();
  for (const [id, leg] of Object.entries(memory.legs)) if (leg.at.state === "fired") legs.set(id, leg);
  for (const leg of after.legs) {
    const known = legMemory(memory, leg.id);
    const old = before.legs.find(({ id }) => id === leg.id);
    if (known !== undefined && old !== undefined) legs.set(leg.id, editLeg(old, leg, { memory: known, revived }));
  }
  const kept = { ...memory, legs: Object.fromEntries(legs) };
  return isSameWallet(before, after) ? kept : { ...kept, bag: undefined, sold: "0" };
}

function isSamePair(before: ThresholdSpec, after: ThresholdSpec): boolean {
  return (["sell", "buy", "watch", "quote"] as const).every((key) => before[key].address === after[key].address);
}

function editLeg(before: ThresholdLeg, after: ThresholdLeg, from: { memory: LegMemory; revived: boolean }): LegMemory {
  const { memory } = from;
  const { at, fills } = memory;
  const state = (next: LegState): LegMemory => ({ ...memory, at: next });
  switch (at.state) {
    case "fired":
      return memory;
    case "done": {
      if (after.rearm === undefined || !mayGoOn(after, fills)) return memory;
      return state({ state: "cooling", untilMs: at.atMs + after.rearm.cooldownSeconds * 1_000 });
    }
    case "cancelled":
      return from.revived ? FRESH_LEG : memory;
    case "cooling":
      if (mayGoOn(after, fills)) return memory;
      return fills > 0 ? state({ state: "done", atMs: at.untilMs }) : FRESH_LEG;
    default:
      return isSameTrigger(before.trigger, after.trigger) ? memory : FRESH_LEG;
  }
}

function mayGoOn({ rearm }: ThresholdLeg, fills: number): boolean {
  return rearm !== undefined && (rearm.times === undefined || fills <= rearm.times);
}

function isSameTrigger(before: Trigger, after: Trigger): boolean {
  if (before.kind === "trail" || after.kind === "trail") return before.kind === after.kind;
  return before.kind === after.kind && before.side === after.side && before.price === after.price;
}
