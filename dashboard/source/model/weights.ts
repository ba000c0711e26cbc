import type { Mix } from "../answers.ts";

type Weight = Mix["weights"][number];

export interface WeightBar {
  readonly symbol: string;
  /** percent, or undefined where a price is missing */
  readonly weight: number | undefined;
  readonly target: number;
  readonly soft: readonly [number, number] | undefined;
  readonly hard: readonly [number, number] | undefined;
  readonly standing: "inside" | "near the edge" | "outside" | "unknown";
}

function range(low: string | null, high: string | null): readonly [number, number] | undefined {
  return low === null && high === null
    ? undefined
    : [low === null ? 0 : Number(low), high === null ? 100 : Number(high)];
}

const isIn = (value: number, [low, high]: readonly [number, number]): boolean => value >= low && value <= high;

/** Where a token of a mix stands against its target and its bands. */
export function weightBar(weight: Weight): WeightBar {
  const value = weight.weight === null ? undefined : Number(weight.weight);
  const soft = range(weight.softLow, weight.softHigh);
  const hard = range(weight.hardLow, weight.hardHigh);
  return {
    symbol: weight.token.symbol,
    weight: value,
    target: Number(weight.target),
    soft,
    hard,
    standing: standing(),
  };

  function standing(): WeightBar["standing"] {
    if (value === undefined) return "unknown";
    if (hard !== undefined && !isIn(value, hard)) return "outside";
    if (soft !== undefined && !isIn(value, soft)) return hard === undefined ? "outside" : "near the edge";
    return "inside";
  }
}

/** The end of the scale for a mix: all bars of it share one, in round tens, with room to the right. */
export function scaleEnd(bars: readonly WeightBar[]): number {
  const most = Math.max(
    10,
    ...bars.flatMap(({ weight, target, soft, hard }) => [weight ?? 0, target, soft?.[1] ?? 0, hard?.[1] ?? 0]),
  );
  return Math.min(100, Math.ceil((most + 2) / 10) * 10);
}
