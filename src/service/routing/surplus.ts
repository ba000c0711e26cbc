import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";
import { type GasRate, gasCost } from "./best-path.ts";
import { nextRate, type OpenEdge } from "./edge.ts";
import { type Hop, type PlannedHop, readKey } from "./plan.ts";
import { type OpenPath, SMALLEST_CHUNK } from "./split.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** What one more unit of each token brings in the token bought. */
export type TokenValues = ReadonlyMap<Address, number>;

/** A price better by less than this is no reason to read more. */
const CLOSE = 1 + 3e-5;

/** Hops of the longest path. */
const LONGEST_WAY = 3;

/** Hops as they were performed, with what tokens are worth as the trade leaves the pools. */
export interface PerformedHops {
  readonly hops: readonly PlannedHop[];
  readonly performance: { readonly hops: readonly Hop[]; readonly hopGas: readonly bigint[] };
  readonly values: TokenValues;
}

/**
 * Pools whose hops bring too little beyond what the other pools would pay for their input at the prices after the trade:
 * less than the hop's gas. Others pay less than those prices, so a hop that earns its gas here certainly does; of those
 * that do not, the worse half is named, since without it the rest may pay.
 * @param maxHops a route longer than that loses its weakest hops in any case
 */
export function weakestPools(
  { hops, performance, values }: PerformedHops,
  { gasRate, maxHops }: { readonly gasRate: GasRate | undefined; readonly maxHops: number },
): readonly PoolState[] {
  const excess = Math.max(0, hops.length - maxHops);
  if (gasRate === undefined && excess === 0) return [];
  const gains = performance.hops.map(({ amountIn, amountOut, tokenIn, tokenOut }, index) => {
    const surplus = Number(amountOut) * worthOf(values, tokenOut) - Number(amountIn) * worthOf(values, tokenIn);
    return { index, gain: surplus - Number(gasCost(performance.hopGas[index] ?? 0n, gasRate)) };
  });
  const losing = gasRate === undefined ? 0 : gains.filter(({ gain }) => gain < 0).length;
  const count = Math.max(excess, Math.ceil(losing / 2));
  const weakest = gains.sort((a, b) => a.gain - b.gain).slice(0, count);
  return weakest.map(({ index }) => hops[index]?.state).filter((state) => state !== undefined);
}

/** Reads of more of pools, each once. */
export type MissingReads = ReadonlyMap<string, () => Promise<void>>;

/** What must be read of pools that end at a better price than the one that the trade leaves: they would take more. */
export function missingReads(paths: readonly OpenPath[], values: TokenValues): MissingReads {
  const missing = new Map<string, () => Promise<void>>();
  for (const edge of new Set(paths.flat())) {
    for (const curve of edge.curves) {
      const { unread } = curve;
      const paid = (unread?.rate ?? 0) * worthOf(values, edge.tokenOut);
      if (unread !== undefined && paid > worthOf(values, edge.tokenIn) * CLOSE)
        missing.set(readKey(curve.pool.pool, edge.tokenIn), unread.load);
    }
  }
  return missing;
}

function worthOf(values: TokenValues, token: Address): number {
  return values.get(token) ?? 0;
}

interface ValuedTrade {
  readonly from: Address;
  readonly to: Address;
  readonly amountIn: number;
  readonly budget: SearchBudget;
}

/**
 * What one more unit of each token brings in the token bought, at the prices that the paths stand at: those of the pools
 * that pay most for one more chunk. A price at which next to nothing can be traded is none.
 */
export function* tokenValues(
  paths: readonly OpenPath[],
  { from, to, amountIn, budget }: ValuedTrade,
): Steps<TokenValues> {
  const chunk = amountIn * SMALLEST_CHUNK;
  const rates = yield* ratesOf([...new Set(paths.flat())], { from, chunk, budget });
  const values = new Map<Address, number>([[to, 1]]);
  for (const path of paths) {
    let value = 1;
    for (let index = path.length - 1; index >= 0; index -= 1) {
      const edge = path[index] as OpenEdge;
      value *= rates.get(edge) ?? 0;
      if (value > worthOf(values, edge.tokenIn)) values.set(edge.tokenIn, value);
    }
  }
  return values;
}

/** The rates of edges for what a chunk of the sold token becomes on its way to them. */
function* ratesOf(
  edges: readonly OpenEdge[],
  { from, chunk, budget }: Pick<ValuedTrade, "from" | "budget"> & { readonly chunk: number },
): Steps<ReadonlyMap<OpenEdge, number>> {
  const chunks = new Map<Address, number>([[from, chunk]]);
  for (let hops = 1; hops < LONGEST_WAY; hops += 1) {
    for (const edge of edges) {
      if (budget.isOver()) yield;
      const { amountOut } = yield* nextRate(edge, worthOf(chunks, edge.tokenIn), budget);
      if (edge.tokenOut !== from && amountOut > worthOf(chunks, edge.tokenOut)) chunks.set(edge.tokenOut, amountOut);
    }
  }
  const rates = new Map<OpenEdge, number>();
  for (const edge of edges) {
    if (budget.isOver()) yield;
    const { rate } = yield* nextRate(edge, worthOf(chunks, edge.tokenIn), budget);
    rates.set(edge, rate);
  }
  return rates;
}
