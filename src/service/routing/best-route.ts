import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";
import { bestPath, type GasRate, gasCost, spotRate } from "./best-path.ts";
import { type Edge, freshEdge, type Loads, RATE_MARGIN } from "./edge.ts";
import { toLegs } from "./legs.ts";
import type { Path } from "./path.ts";
import { type Leg, type Performance, type PlannedLeg, performLegs, spotOutput } from "./plan.ts";
import { type Flow, splitInput } from "./split.ts";
import { weakestPools } from "./surplus.ts";

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
  readonly flow: Flow;
  readonly paths: readonly Path[];
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
  const search: Search = { trade, gasRate, loads: new Map() };
  const { best: single, unread } = bestPath(paths, { amountIn: trade.amountIn, gasRate });
  const alone = single === undefined ? undefined : perform(single.legs, search);
  const split = canSplitPay(paths, alone, search) ? bestSplit(paths, search) : undefined;
  const best = split !== undefined && (alone === undefined || split.net > alone.net) ? split : alone;
  for (const { key, load, atMost } of unread) if (best === undefined || atMost > best.net) search.loads.set(key, load);
  if (options.readsMore && search.loads.size > 0) return { kind: "unread", loads: [...search.loads.values()] };
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
  readonly loads: Loads;
}

function perform(legs: readonly PlannedLeg[], { trade, gasRate, loads }: Search): Candidate | undefined {
  const performance = performLegs(legs, trade);
  if (performance.kind === "unread") loads.set("legs", performance.load);
  if (performance.kind !== "filled") return undefined;
  return { legs, performance, net: performance.amountOut - gasCost(performance.gas, gasRate) };
}

/** Splits the input, then again without the pools that do not pay their gas, as long as that brings more. */
function bestSplit(paths: readonly Path[], search: Search): Split | undefined {
  const without = new Set<PoolState>();
  let best: Split | undefined;
  for (let drops = 0; drops <= MAX_DROPS; drops += 1) {
    const split = splitWithout(paths, without, search);
    if (split === undefined) return best;
    if (split.legs.length <= MAX_LEGS && (best === undefined || split.net > best.net)) best = split;
    const weakest = weakestPools(split, { to: search.trade.to, gasRate: search.gasRate, maxLegs: MAX_LEGS });
    if (weakest.length === 0) return best;
    for (const state of weakest) without.add(state);
  }
  return best;
}

function splitWithout(paths: readonly Path[], without: ReadonlySet<PoolState>, search: Search): Split | undefined {
  const { trade, loads } = search;
  const fresh = freshPaths(paths, without);
  const flow = splitInput(fresh, trade.amountIn, loads);
  if (flow === undefined) return undefined;
  const legs = toLegs(flow, trade.from);
  const candidate = perform(legs, search);
  return candidate === undefined ? undefined : { ...candidate, flow, paths: fresh };
}

function freshPaths(paths: readonly Path[], without: ReadonlySet<PoolState>): readonly Path[] {
  const fresh = new Map<Edge, Edge>();
  const renew = (edge: Edge): Edge => {
    const known = fresh.get(edge) ?? freshEdge(edge, without);
    fresh.set(edge, known);
    return known;
  };
  return paths.map((path) => path.map(renew)).filter((path) => path.every((edge) => edge.start.length > 0));
}
