import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";
import { bestPath, type GasRate, gasCost } from "./best-path.ts";
import { RATE_MARGIN } from "./edge.ts";
import { toLegs } from "./legs.ts";
import { type Path, spotRate } from "./path.ts";
import { type Leg, type Performance, type PlannedLeg, performLegs, spotOutput } from "./plan.ts";
import { refine } from "./refine.ts";
import { type OpenPath, openPaths, splitInput } from "./split.ts";
import { missingReads, weakestPools } from "./surplus.ts";

/** The route a quote stands on. */
export interface Route {
  readonly legs: readonly Leg[];
  readonly amountOut: bigint;
  /** gas of the pools alone */
  readonly gas: bigint;
  /** output at the marginal prices before the trade, pool fees counted: what an infinitely small trade would get */
  readonly spotAmountOut: bigint;
}

export type BestRoute =
  | { readonly kind: "found"; readonly route: Route }
  | { readonly kind: "none" }
  /** the answer depends on state that was not read yet */
  | { readonly kind: "unread"; readonly loads: readonly (() => Promise<void>)[] };

/** What is sold and bought, both as ERC-20 tokens. */
export interface RouteTrade {
  readonly from: Address;
  readonly to: Address;
  readonly amountIn: bigint;
}

interface Candidate {
  readonly legs: readonly PlannedLeg[];
  readonly performance: Extract<Performance, { kind: "filled" }>;
  readonly net: bigint;
}

/** A split that was searched, with the pools as it leaves them. */
interface Split extends Candidate {
  readonly paths: readonly OpenPath[];
}

/** Searches without pools that do not pay their gas. */
const MAX_DROPS = 6;

/** No swap in a pool costs less gas. */
const LEAST_POOL_GAS = 60_000n;

/** What the settlement contracts take in one route, `MAX_LEGS`. */
const MAX_LEGS = 32;

/**
 * The route with the highest output net of gas that the search finds: the best single path, or a split of the input
 * over several. The answer is always performed leg by leg before it is given, and never worse than the single path.
 * @param paths over the pools as they are before the trade; they are left as they are
 */
export function bestRoute(
  paths: readonly Path[],
  trade: RouteTrade,
  options: { readonly gasRate: GasRate | undefined; readonly readsMore: boolean },
): BestRoute {
  const { gasRate } = options;
  const search: Search = { trade, gasRate, loads: [] };
  const first = splitWithout(paths, new Set(), search);
  const atLeast = first === undefined || first.legs.length > MAX_LEGS ? 0n : first.net;
  const { best: single, unread } = bestPath(paths, { amountIn: trade.amountIn, gasRate, atLeast });
  const alone = single === undefined ? undefined : perform(single.legs, search);
  const split = first !== undefined && canSplitPay(paths, alone, search) ? bestSplit(paths, first, search) : undefined;
  const best = split !== undefined && (alone === undefined || split.net > alone.net) ? split : alone;
  for (const { load, atMost } of unread) if (best === undefined || atMost > best.net) search.loads.push(load);
  if (options.readsMore && search.loads.length > 0) return { kind: "unread", loads: search.loads };
  if (best === undefined) return { kind: "none" };
  const { legs, amountOut, gas } = best.performance;
  return { kind: "found", route: { legs, amountOut, gas, spotAmountOut: spotOutput(best.legs, trade) } };
}

/** Whether two pools at today's prices, without moving them, would bring more than the single path does. */
function canSplitPay(paths: readonly Path[], alone: Candidate | undefined, { trade, gasRate }: Search): boolean {
  if (alone === undefined) return true;
  const rate = paths.reduce((highest, path) => Math.max(highest, spotRate(path)), 0);
  const gross = Number(trade.amountIn) * rate * RATE_MARGIN;
  return gross - Number(gasCost(2n * LEAST_POOL_GAS, gasRate)) > Number(alone.net);
}

interface Search {
  readonly trade: RouteTrade;
  readonly gasRate: GasRate | undefined;
  /** reads of state that could change the answer */
  readonly loads: (() => Promise<void>)[];
}

function perform(legs: readonly PlannedLeg[], { trade, gasRate, loads }: Search): Candidate | undefined {
  const performance = performLegs(legs, trade);
  if (performance.kind === "unread") loads.push(performance.load);
  if (performance.kind !== "filled") return undefined;
  return { legs, performance, net: performance.amountOut - gasCost(performance.gas, gasRate) };
}

/** Splits again without the pools that do not pay their gas, as long as there are any; the best of all counts. */
function bestSplit(paths: readonly Path[], first: Split, search: Search): Split | undefined {
  const without = new Set<PoolState>();
  let best: Split | undefined;
  let split: Split | undefined = first;
  for (let drops = 0; split !== undefined; drops += 1) {
    if (split.legs.length <= MAX_LEGS && (best === undefined || split.net > best.net)) best = split;
    const weakest = weakestPools(split, { to: search.trade.to, gasRate: search.gasRate, maxLegs: MAX_LEGS });
    if (weakest.length === 0 || drops === MAX_DROPS) return best;
    for (const state of weakest) without.add(state);
    split = splitWithout(paths, without, search);
  }
  return best;
}

function splitWithout(paths: readonly Path[], without: ReadonlySet<PoolState>, search: Search): Split | undefined {
  const { trade, loads } = search;
  const open = openPaths(paths, without);
  const input = { from: trade.from, to: trade.to, amountIn: Number(trade.amountIn) };
  const chunked = splitInput(open, input.amountIn);
  const edges = chunked === undefined ? undefined : refine(chunked, [...new Set(open.flat())], input);
  loads.push(...missingReads(open, trade.to));
  if (edges === undefined) return undefined;
  const candidate = perform(toLegs(edges, trade.from), search);
  return candidate === undefined ? undefined : { ...candidate, paths: open };
}
