import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { PlannedSwap, StrategyView } from "../../../src/domain/strategy/decision.ts";
import { type PairPrice, pairPriceOf } from "../../../src/domain/strategy/pair-price.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  type StrategyMemory,
  strategyEdited,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import type { ThresholdMemory } from "../../../src/domain/strategy/threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec } from "../../../src/domain/strategy/threshold-spec.ts";
import { common, of, USDC, view, WETH } from "./world.ts";

export const DAY = 86_400;

/** A price of one WETH. */
export function usdc(whole: number | string): PairPrice {
  return pairPriceOf(of(USDC, whole), USDC);
}

/** Sells a quarter of the free WETH when the price reaches 4500 USDC from below. */
export function leg(change: Partial<ThresholdLeg> = {}): ThresholdLeg {
  return {
    id: "main",
    role: "only",
    trigger: { kind: "cross", side: "above", price: usdc(4_500) },
    confirm: { forSeconds: 0, samples: 1 },
    amount: { share: toPpm(250_000) },
    floor: undefined,
    ifAlreadyTrue: "wait",
    onMissed: "fire-if-still-true",
    rearm: undefined,
    ...change,
  };
}

export function cross(side: "above" | "below", price: number | string): ThresholdLeg["trigger"] {
  return { kind: "cross", side, price: usdc(price) };
}

export function spec(legs: readonly ThresholdLeg[], change: Partial<ThresholdSpec> = {}): ThresholdSpec {
  return {
    ...common,
    kind: "threshold",
    sell: WETH,
    buy: USDC,
    watch: WETH,
    quote: USDC,
    legs,
    allocation: undefined,
    maxGapSeconds: 90,
    attempts: 3,
    untilMs: undefined,
    ...change,
  };
}

/** What came of a run: all of it, nothing, or nothing for a reason. */
export type End = "filled" | "nothing" | "reverted" | "PRICE_LIMIT_NOT_MET" | "dry_run";

/** A strategy with its memory, one check of the price after the other. Memory goes through its stored form each time. */
export function trigger(first: ThresholdSpec, has: { free?: bigint; memory?: StrategyMemory } = {}) {
  let strategy = first;
  let memory: StrategyMemory = has.memory ?? initialStrategyMemory(strategy);
  let nowMs = 1_700_000_000_000;
  let free = has.free ?? of(strategy.sell, 8);
  let accepted: StrategyView["accepted"];
  let planned: readonly PlannedSwap[] = [];
  let pauses: string[] = [];
  let alerts: string[] = [];
  let detail: string | undefined;
  const keep = (next: StrategyMemory): void => {
    memory = JSON.parse(JSON.stringify(next));
  };
  return {
    see(dollars: string | number, waitSeconds = 30) {
      nowMs += waitSeconds * 1_000;
      const prices = [
        [WETH, String(dollars)],
        [USDC, "1"],
      ] as const;
      const seen = { ...view({ nowMs, free: [[strategy.sell, free]], prices }), accepted };
      const decision = decideStrategy(strategy, seen, memory);
      keep(decision.memory);
      detail = decision.outcome.detail;
      if (decision.pause !== undefined) pauses = [...pauses, decision.pause.code];
      if (decision.outcome.kind !== "swap") return decision.outcome.reason;
      planned = decision.outcome.swaps;
      return planned;
    },
    /** @returns what the run sold */
    end(end: End = "filled", waitSeconds = 0, dry = end === "dry_run"): bigint {
      nowMs += waitSeconds * 1_000;
      const swaps = planned.map(({ sell, buy, amount }, position) => {
        const sold = end === "filled" && amount.kind === "fixed" ? amount.raw : 0n;
        const reason = end === "filled" || end === "nothing" ? undefined : end;
        return { position, sell, buy, sold, bought: sold, reason, signed: end === "reverted" };
      });
      const run = { slotMs: nowMs, filled: end === "filled", nowMs, swaps, ...(dry ? { dry } : {}) };
      const after = strategyRunEnded(strategy, memory, run);
      keep(after.memory);
      if (after.pause !== undefined) pauses = [...pauses, after.pause.code];
      if (after.alert !== undefined) alerts = [...alerts, after.alert.code];
      const sold = swaps.reduce((sum, swap) => sum + swap.sold, 0n);
      free -= sold;
      planned = [];
      return sold;
    },
    edit(after: ThresholdSpec): void {
      keep(strategyEdited(strategy, after, memory));
      strategy = after;
    },
    /** A person accepted that another database sold so much of it in all. */
    accept(raw: bigint): void {
      accepted = new Map([[strategy.sell.address, raw]]);
    },
    fund(raw: bigint): void {
      free = raw;
    },
    memory: () => memory as ThresholdMemory,
    at: (id = "main") => (memory as ThresholdMemory).legs[id]?.at.state,
    pauses: () => pauses,
    alerts: () => alerts,
    /** What the last check said. */
    detail: () => detail,
    nowMs: () => nowMs,
  };
}

/** The swap of the sample: a quarter of 8 WETH. */
export const quarter = [{ sell: WETH, buy: USDC, amount: { kind: "fixed", raw: of(WETH, 2) } }];
