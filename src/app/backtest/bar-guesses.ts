import type { Market } from "../../adapters/backtest/market.ts";
import type { CandlePath } from "../../domain/backtest/candles.ts";
import type { Address } from "../../domain/money/address.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Decision, StrategyView } from "../../domain/strategy/decision.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { decideStrategy, type StrategyMemory } from "../../domain/strategy/strategy.ts";

/** What candles leave open. */
export interface GuessCounts {
  /** runs that traded at an instant within a candle, where the price is a guess */
  readonly inside: number;
  /** those of which another trigger would have fired, had the candle's other extreme come first */
  readonly undecided: number;
}

/** Watches for decisions that hang on what happened within a candle. */
export interface BarGuesses {
  /** a strategy is about to decide */
  heed(run: Run, view: StrategyView, memory: string): void;
  counts(): GuessCounts;
}

/**
 * How prices go within candles: where triggers are watched by way of the extremes, the worse one first, which is the lower
 * one for who sells what he watches and the higher one for who only buys it. Else straight, which favours nobody.
 */
export function pathOf(specs: readonly StrategySpec[]): CandlePath {
  const triggers = specs.flatMap((spec) => (spec.kind === "threshold" ? [spec] : []));
  if (triggers.length === 0) return "straight";
  return triggers.every(({ buy, watch }) => buy.address === watch.address) ? "high-first" : "low-first";
}

/** Makes the watch. */
export function createBarGuesses({
  market,
  specs,
}: {
  readonly market: Market;
  readonly specs: readonly StrategySpec[];
}): BarGuesses {
  const byId = new Map(specs.map((spec) => [spec.id, spec]));
  /** the same view with the other extreme of each price that is a guess */
  const turned = (view: StrategyView, moved: readonly Address[]): StrategyView => {
    const prices = new Map(view.prices);
    for (const token of moved) {
      const [known, usd] = [prices.get(token), market.otherExtreme(token)];
      if (known !== undefined && usd !== undefined) prices.set(token, { ...known, usd });
    }
    return { ...view, prices };
  };
  let inside = 0;
  let undecided = 0;
  return {
    heed: ({ strategyId }, view, stored) => {
      const spec = byId.get(strategyId);
      const moved = [...view.prices.keys()].filter((token) => market.isGuess(token));
      if (spec === undefined || moved.length === 0) return;
      const memory: StrategyMemory = JSON.parse(stored);
      const decision = decideStrategy(spec, view, memory);
      if (decision.outcome.kind !== "swap") return;
      inside += 1;
      const other =
        spec.kind === "threshold" ? triggerOf(decideStrategy(spec, turned(view, moved), memory)) : undefined;
      if (other !== undefined && other !== triggerOf(decision)) undecided += 1;
    },
    counts: () => ({ inside, undecided }),
  };
}

/** Which trigger fires, by its name in the decision's words; undefined where none does. */
function triggerOf({ outcome }: Decision<StrategyMemory>): string | undefined {
  return outcome.kind === "swap" ? /^"([^"]+)" fires/.exec(outcome.detail ?? "")?.[1] : undefined;
}
