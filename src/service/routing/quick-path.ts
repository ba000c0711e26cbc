import { BETWEEN_GAS } from "../gas/hop-gas.ts";
import type { PoolQuote, PoolState } from "../pools/pool.ts";
import { type GasRate, gasCost, quoteOnce } from "./best-path.ts";
import type { Edge } from "./edge.ts";
import { type Path, spotRate } from "./path.ts";
import { type PlannedHop, PORTION_ALL } from "./plan.ts";
import type { SearchBudget, Steps } from "./steps.ts";

interface QuickSearch {
  readonly amountIn: bigint;
  readonly gasRate: GasRate | undefined;
  readonly quote: (edge: Edge, index: number, amountIn: bigint) => PoolQuote;
  readonly budget: SearchBudget;
}

/**
 * Some path quickly, for when the best one may not be found in time: of each edge the pool that pays most, paths with
 * the best prices first. No curve is sampled for it. Each that brings more than those before it is yielded.
 */
export function* quickPaths(
  paths: readonly Path[],
  options: Omit<QuickSearch, "quote">,
  onPath: (hops: readonly PlannedHop[]) => Steps<unknown>,
): Steps<void> {
  const search = { ...options, quote: quoteOnce() };
  let most: bigint | undefined;
  for (const path of [...paths].sort((a, b) => spotRate(b) - spotRate(a))) {
    const way = yield* along(path, search);
    if (way === undefined || (most !== undefined && way.net <= most)) continue;
    most = way.net;
    yield* onPath(way.hops);
  }
}

function* along(path: Path, search: QuickSearch): Steps<{ hops: readonly PlannedHop[]; net: bigint } | undefined> {
  const hops: PlannedHop[] = [];
  let [amount, gas] = [search.amountIn, BigInt(path.length - 1) * BETWEEN_GAS];
  for (const edge of path) {
    const best = yield* bestPool(edge, amount, search);
    if (best === undefined) return undefined;
    hops.push({ state: best.state, tokenIn: edge.tokenIn, tokenOut: edge.tokenOut, portion: PORTION_ALL });
    amount = best.quote.amountOut;
    gas += best.quote.gas;
  }
  return { hops, net: amount - gasCost(gas, search.gasRate) };
}

interface PaidBest {
  readonly state: PoolState;
  readonly quote: Extract<PoolQuote, { kind: "filled" }>;
}

function* bestPool(edge: Edge, amount: bigint, { quote, budget }: QuickSearch): Steps<PaidBest | undefined> {
  let best: PaidBest | undefined;
  for (const [index, curve] of edge.curves.entries()) {
    if (budget.isOver()) yield;
    const tried = quote(edge, index, amount);
    if (tried.kind !== "filled" || (best !== undefined && tried.amountOut <= best.quote.amountOut)) continue;
    best = { state: curve.pool, quote: tried };
  }
  return best;
}
