import type { Address } from "../../domain/money/address.ts";
import { smaller } from "../../domain/money/bigint.ts";
import { POOL_KINDS } from "../pools/kinds.ts";
import type { PoolState } from "../pools/pool.ts";
import { bestPath, type GasRate, gasCost } from "./best-path.ts";
import { type OpenEdge, RATE_MARGIN } from "./edge.ts";
import { toHops } from "./hops.ts";
import { inLegs } from "./legs.ts";
import { type Path, spotRate } from "./path.ts";
import { type Hop, type Performance, type PlannedHop, PORTION_ALL, performHops, spotOutput } from "./plan.ts";
import { quickPaths } from "./quick-path.ts";
import { refine } from "./refine.ts";
import { keepSplit, openPaths, splitInput } from "./split.ts";
import { runToEnd, type SearchBudget, type Steps, UNLIMITED } from "./steps.ts";
import { missingReads, type TokenValues, tokenValues, weakestPools } from "./surplus.ts";

/** The route a quote stands on. */
export interface Route {
  readonly hops: readonly Hop[];
  readonly amountOut: bigint;
  /** what the hops, and the tokens between them, add to a swap */
  readonly gas: bigint;
  /** output at the marginal prices before the trade, pool fees counted: what an infinitely small trade would get */
  readonly spotAmountOut: bigint;
  /** false: the search was ended before it had tried everything */
  readonly isWhole: boolean;
  /** the public router that trades with its pools; undefined: a route for our own settlement, or for nobody */
  readonly router?: Address | undefined;
  /** The same way with another amount; undefined when a pool on it cannot take that. */
  resize(amountIn: bigint): Route | undefined;
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
  readonly hops: readonly PlannedHop[];
  readonly performance: Extract<Performance, { kind: "filled" }>;
  readonly net: bigint;
}

/** A split that was searched, with what tokens are worth as it leaves the pools. */
interface Split extends Candidate {
  readonly values: TokenValues;
  /** the edges that got something */
  readonly edges: readonly OpenEdge[];
}

/** Searches without pools that do not pay their gas. */
const MAX_DROPS = 6;

/** No swap in a pool costs less gas. */
const LEAST_POOL_GAS = POOL_KINDS.map(({ gas }) => gas.least).reduce(smaller);

/** What the settlement contracts take in one route, `MAX_HOPS`. */
const MAX_HOPS = 32;
/** A public router takes each leg as a call of its own, and pinned decoders take so many. */
const MAX_HOPS_IN_LEGS = 12;

/** A search, with what it found so far. */
export interface RouteSearch {
  /** the whole search, in steps */
  readonly steps: Steps<BestRoute>;
  /** searches for any route, which {@link soFar} then has */
  readonly quickSteps: Steps<void>;
  /** The best route that was performed so far: the answer when there is no time for the rest. */
  soFar(): Route | undefined;
}

export interface SearchOptions {
  readonly gasRate: GasRate | undefined;
  readonly readsMore: boolean;
  readonly budget: SearchBudget;
  /** routes are for a public router: each as legs with amounts of their own, see {@link inLegs} */
  readonly inLegs?: boolean;
  /** routes are one leg: nothing is split */
  readonly inOneLeg?: boolean;
}

interface Search {
  readonly trade: RouteTrade;
  readonly gasRate: GasRate | undefined;
  readonly budget: SearchBudget;
  readonly inLegs: boolean;
  readonly inOneLeg: boolean;
  readonly maxHops: number;
  /** reads of state that could change the answer, each once: many paths end at the same pool */
  readonly loads: Map<string, () => Promise<void>>;
  soFar: Candidate | undefined;
}

/**
 * The route with the highest output net of gas that the search finds: the best single path, or a split of the input
 * over several. The answer is always performed hop by hop before it is given, and never worse than the single path.
 *
 * In between others may search over the same pools, which are as they are; they only sample curves further.
 * @param paths over the pools as they are before the trade; they are left as they are
 */
export function searchRoute(paths: readonly Path[], trade: RouteTrade, options: SearchOptions): RouteSearch {
  const { gasRate, readsMore, budget, inLegs: isInLegs = false, inOneLeg = false } = options;
  const maxHops = isInLegs ? MAX_HOPS_IN_LEGS : MAX_HOPS;
  const search: Search = {
    trade,
    gasRate,
    budget,
    inLegs: isInLegs,
    inOneLeg,
    maxHops,
    loads: new Map(),
    soFar: undefined,
  };
  return {
    steps: wholeSearch(paths, search, readsMore),
    quickSteps: quickPaths(paths, { amountIn: trade.amountIn, gasRate, budget }, (hops) => perform(hops, search)),
    soFar: () => (search.soFar === undefined ? undefined : toRoute(search.soFar, trade, false)),
  };
}

/** {@link searchRoute} in one go. */
export function bestRoute(
  paths: readonly Path[],
  trade: RouteTrade,
  options: Omit<SearchOptions, "budget">,
): BestRoute {
  return runToEnd(searchRoute(paths, trade, { ...options, budget: UNLIMITED }).steps);
}

function* wholeSearch(paths: readonly Path[], search: Search, readsMore: boolean): Steps<BestRoute> {
  const { trade, gasRate, budget, loads, maxHops } = search;
  const first = yield* firstSplit(paths, search);
  const atLeast = first === undefined || first.hops.length > maxHops ? undefined : first.net;
  const { best: single, unread } = yield* bestPath(paths, { amountIn: trade.amountIn, gasRate, atLeast }, budget);
  const alone = single === undefined ? undefined : yield* perform(single.hops, search);
  const pays = first !== undefined && canSplitPay(paths, alone, search);
  const split = pays ? yield* bestSplit(paths, first, search) : undefined;
  const best = split !== undefined && (alone === undefined || split.net > alone.net) ? split : alone;
  for (const { key, load, atMost } of unread) if (best === undefined || atMost > best.net) noteRead(loads, key, load);
  if (readsMore && loads.size > 0) return { kind: "unread", loads: [...loads.values()] };
  return best === undefined ? { kind: "none" } : { kind: "found", route: toRoute(best, trade, true) };
}

function noteRead(loads: Search["loads"], key: string, load: () => Promise<void>): void {
  if (!loads.has(key)) loads.set(key, load);
}

function toRoute(
  { hops: planned, performance }: Pick<Candidate, "hops" | "performance">,
  trade: RouteTrade,
  isWhole: boolean,
): Route {
  const { hops, amountOut, gas } = performance;
  return {
    hops,
    amountOut,
    gas,
    spotAmountOut: spotOutput(planned, trade),
    isWhole,
    resize(amountIn) {
      const resized = { ...trade, amountIn };
      const again = runToEnd(performHops(planned, resized, UNLIMITED));
      return again.kind === "filled" ? toRoute({ hops: planned, performance: again }, resized, isWhole) : undefined;
    },
  };
}

/** Whether two pools at today's prices, without moving them, would bring more than the single path does. */
function canSplitPay(paths: readonly Path[], alone: Candidate | undefined, { trade, gasRate }: Search): boolean {
  if (alone === undefined) return true;
  const rate = paths.reduce((highest, path) => Math.max(highest, spotRate(path)), 0);
  const gross = Number(trade.amountIn) * rate * RATE_MARGIN;
  return gross - Number(gasCost(2n * LEAST_POOL_GAS, gasRate)) > Number(alone.net);
}

function* perform(planned: readonly PlannedHop[], search: Search): Steps<Candidate | undefined> {
  const merged = yield* performOnce(planned, search);
  const candidate = search.inLegs && merged !== undefined ? yield* performInLegs(merged, search) : merged;
  if (candidate === undefined) return undefined;
  const isBest = search.soFar === undefined || candidate.net > search.soFar.net;
  if (candidate.hops.length <= search.maxHops && isBest) search.soFar = candidate;
  return candidate;
}

function* performInLegs(merged: Candidate, search: Search): Steps<Candidate | undefined> {
  const { hops, performance } = merged;
  const isOneLeg = hops.every(({ portion }) => portion === PORTION_ALL);
  return isOneLeg
    ? merged
    : yield* performOnce(inLegs(hops, performance.hops, { from: search.trade.from, maxHops: search.maxHops }), search);
}

function* performOnce(hops: readonly PlannedHop[], search: Search): Steps<Candidate | undefined> {
  const { trade, gasRate, loads, budget } = search;
  const performance = yield* performHops(hops, trade, budget);
  if (performance.kind === "unread") noteRead(loads, performance.key, performance.load);
  if (performance.kind !== "filled") return undefined;
  return { hops, performance, net: performance.amountOut - gasCost(performance.gas, gasRate) };
}

/** Splits again without the pools that do not pay their gas, as long as there are any; the best of all counts. */
function* bestSplit(paths: readonly Path[], first: Split, search: Search): Steps<Split | undefined> {
  const without = new Set<PoolState>();
  let best: Split | undefined;
  let split: Split | undefined = first;
  for (let drops = 0; split !== undefined; drops += 1) {
    if (split.hops.length <= search.maxHops && (best === undefined || split.net > best.net)) best = split;
    const { gasRate, maxHops } = search;
    const leftOut = search.inLegs ? unusedPools(split) : [];
    const weakest = leftOut.length > 0 ? leftOut : weakestPools(split, { gasRate, maxHops });
    if (weakest.length === 0 || drops === MAX_DROPS) return best;
    for (const state of weakest) without.add(state);
    split = yield* splitWithout(paths, without, search, split.edges);
  }
  return best;
}

/** Pools that got something for which no leg is left. */
function unusedPools({ hops, edges }: Split): readonly PoolState[] {
  const used = new Set(hops.map(({ state }) => state));
  return edges.flatMap(({ curves, amounts }) =>
    curves.flatMap(({ pool }, index) => ((amounts[index] ?? 0) > 0 && !used.has(pool) ? [pool] : [])),
  );
}

function* firstSplit(paths: readonly Path[], search: Search): Steps<Split | undefined> {
  return search.inOneLeg ? undefined : yield* splitWithout(paths, new Set(), search);
}

function* splitWithout(
  paths: readonly Path[],
  without: ReadonlySet<PoolState>,
  search: Search,
  earlier: readonly OpenEdge[] = [],
): Steps<Split | undefined> {
  const { trade, loads, budget } = search;
  const open = openPaths(paths, without);
  const input = { from: trade.from, to: trade.to, amountIn: Number(trade.amountIn), budget };
  const chunked = keepSplit(open, earlier, trade) ?? (yield* splitInput(open, input.amountIn, budget));
  const edges = chunked === undefined ? undefined : yield* refine(chunked, [...new Set(open.flat())], input);
  const values = yield* tokenValues(open, input);
  // With these the curves go on as well.
  for (const [key, load] of missingReads(open, values)) loads.set(key, load);
  if (edges === undefined) return undefined;
  const candidate = yield* perform(toHops(edges, trade.from), search);
  return candidate === undefined ? undefined : { ...candidate, values, edges };
}
