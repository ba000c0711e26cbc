import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";
import { type GasRate, gasCost } from "./best-path.ts";
import type { Curve } from "./curve.ts";
import type { OpenEdge } from "./edge.ts";
import type { Hop, PlannedHop } from "./plan.ts";
import type { OpenPath } from "./split.ts";

/** Hops as they were performed, over paths as the trade leaves them. */
export interface PerformedHops {
  readonly hops: readonly PlannedHop[];
  readonly performance: { readonly hops: readonly Hop[]; readonly hopGas: readonly bigint[] };
  readonly paths: readonly OpenPath[];
}

/**
 * Pools whose hops bring too little beyond what the other pools would pay for their input at the prices after the trade:
 * less than the hop's gas. Others pay less than those prices, so a hop that earns its gas here certainly does; of those
 * that do not, the worse half is named, since without it the rest may pay.
 * @param maxHops a route longer than that loses its weakest hops in any case
 */
export function weakestPools(
  { hops, performance, paths }: PerformedHops,
  options: { readonly to: Address; readonly gasRate: GasRate | undefined; readonly maxHops: number },
): readonly PoolState[] {
  const { gasRate, maxHops } = options;
  const excess = Math.max(0, hops.length - maxHops);
  if (gasRate === undefined && excess === 0) return [];
  const values = tokenValues(paths, options.to);
  const gains = performance.hops.map(({ amountIn, amountOut, tokenIn, tokenOut }, index) => {
    const surplus = Number(amountOut) * worthOf(values, tokenOut) - Number(amountIn) * worthOf(values, tokenIn);
    return { index, gain: surplus - Number(gasCost(performance.hopGas[index] ?? 0n, gasRate)) };
  });
  const losing = gasRate === undefined ? 0 : gains.filter(({ gain }) => gain < 0).length;
  const count = Math.max(excess, Math.ceil(losing / 2));
  const weakest = gains.sort((a, b) => a.gain - b.gain).slice(0, count);
  return weakest.map(({ index }) => hops[index]?.state).filter((state) => state !== undefined);
}

/** What must be read of pools that end at a better price than the one that the trade leaves: they would take more. */
export function missingReads(paths: readonly OpenPath[], to: Address): readonly (() => Promise<void>)[] {
  const values = tokenValues(paths, to);
  const missing = new Map<Curve, () => Promise<void>>();
  for (const edge of new Set(paths.flat())) {
    for (const curve of edge.curves) {
      const { unread } = curve;
      const paid = (unread?.rate ?? 0) * worthOf(values, edge.tokenOut);
      if (unread !== undefined && paid > worthOf(values, edge.tokenIn)) missing.set(curve, unread.load);
    }
  }
  return [...missing.values()];
}

function worthOf(values: ReadonlyMap<Address, number>, token: Address): number {
  return values.get(token) ?? 0;
}

/** What one more unit of each token brings in the token bought, at the prices that the paths stand at. */
function tokenValues(paths: readonly OpenPath[], to: Address): ReadonlyMap<Address, number> {
  const values = new Map<Address, number>([[to, 1]]);
  for (const path of paths) {
    let value = 1;
    for (let index = path.length - 1; index >= 0; index -= 1) {
      const edge = path[index] as OpenEdge;
      value *= edge.rate;
      if (value > worthOf(values, edge.tokenIn)) values.set(edge.tokenIn, value);
    }
  }
  return values;
}
