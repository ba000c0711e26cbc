import { BETWEEN_GAS } from "../gas/hop-gas.ts";
import type { PoolQuote, PoolState } from "../pools/pool.ts";
import type { Curve } from "./curve.ts";
import type { Edge } from "./edge.ts";
import { type Path, spotRate } from "./path.ts";
import { type PlannedHop, PORTION_ALL, readKey } from "./plan.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** What gas costs in the token bought: `amount` of it is worth `gas` units of gas. */
export interface GasRate {
  readonly amount: bigint;
  readonly gas: bigint;
}

/** What so much gas costs in the token bought, rounded up; nothing without a rate. */
export function gasCost(gas: bigint, rate: GasRate | undefined): bigint {
  return rate === undefined ? 0n : (gas * rate.amount + rate.gas - 1n) / rate.gas;
}

/** One pool after the other with the whole amount. */
export interface SinglePath {
  readonly hops: readonly PlannedHop[];
  readonly amountOut: bigint;
  /** output minus gas */
  readonly net: bigint;
}

/** Curves are this exact and more: so much is allowed for before one of them rules a path out. */
const CURVE_MARGIN = 1 + 1e-5;

/** Quotes the pool of an edge. */
type QuotePool = (edge: Edge, index: number, amountIn: bigint) => PoolQuote;

interface Search {
  readonly path: Path;
  readonly gasRate: GasRate | undefined;
  readonly quote: QuotePool;
  readonly budget: SearchBudget;
}

/** Pools on some path that must be read first, with the most that the path can bring net of gas. */
export interface UnreadPath {
  readonly key: string;
  readonly load: () => Promise<void>;
  readonly atMost: bigint;
}

interface Found {
  best: SinglePath | undefined;
  /** net output that a path must reach to be of interest */
  worth: number;
  readonly unread: UnreadPath[];
}

/** A way that was gone so far. */
interface Reached {
  readonly states: readonly PoolState[];
  readonly amount: bigint;
  readonly gas: bigint;
  readonly unread: { readonly key: string; readonly load: () => Promise<void> } | undefined;
}

/**
 * The path of single pools with the highest output net of gas, over pools as they are before any trade. Every
 * combination counts; curves and gas rule most of them out before they are quoted.
 * @param trade `atLeast` is a net output that is to be had otherwise: paths below it are of no interest; undefined: any
 *   path is better than none, also one that costs more gas than it brings
 */
export function* bestPath(
  paths: readonly Path[],
  trade: { readonly amountIn: bigint; readonly gasRate: GasRate | undefined; readonly atLeast: bigint | undefined },
  budget: SearchBudget,
): Steps<{ readonly best: SinglePath | undefined; readonly unread: readonly UnreadPath[] }> {
  const found: Found = { best: undefined, worth: Number(trade.atLeast ?? Number.NEGATIVE_INFINITY), unread: [] };
  const quote = quoteOnce();
  const start: Reached = { states: [], amount: trade.amountIn, gas: 0n, unread: undefined };
  const promising = [...paths].sort((a, b) => spotRate(b) - spotRate(a));
  for (const path of promising) {
    // Not even without moving a price, and the paths after this one have a lower rate still.
    if (spotRate(path) * Number(trade.amountIn) * CURVE_MARGIN ** 2 < found.worth) break;
    yield* walk({ path, gasRate: trade.gasRate, quote, budget }, start, found);
  }
  return found;
}

function* walk(search: Search, reached: Reached, found: Found): Steps<void> {
  const { path, gasRate, budget } = search;
  const { states, amount, gas } = reached;
  const edge = path[states.length];
  if (edge === undefined) {
    arrive(search, reached, found);
    return;
  }
  const cost = Number(gasCost(gas, gasRate));
  const onwards = spotRate(path, states.length + 1) * CURVE_MARGIN;
  for (const [index, curve] of edge.curves.entries()) {
    const state = curve.pool;
    if (onwards * curve.atMost(Number(amount)) - cost < found.worth) continue;
    if (budget.isOver()) yield;
    const quote = search.quote(edge, index, amount);
    if (quote.kind === "short") continue;
    const next = { states: [...states, state], unread: reached.unread };
    if (quote.kind === "filled") {
      const between = states.length === 0 ? 0n : BETWEEN_GAS;
      yield* walk(search, { ...next, amount: quote.amountOut, gas: gas + quote.gas + between }, found);
    } else {
      const unread = reached.unread ?? { key: readKey(state.pool, edge.tokenIn), load: quote.load };
      yield* walk(search, { ...next, amount: quote.atMost, gas, unread }, found);
    }
  }
}

function arrive({ path, gasRate }: Search, { states, amount, gas, unread }: Reached, found: Found): void {
  const net = amount - gasCost(gas, gasRate);
  if (unread !== undefined) {
    found.unread.push({ ...unread, atMost: net });
    return;
  }
  if (found.best !== undefined && net <= found.best.net) return;
  const hops = path.map(({ tokenIn, tokenOut }, index) => {
    return { state: states[index] as PoolState, tokenIn, tokenOut, portion: PORTION_ALL };
  });
  found.best = { hops, amountOut: amount, net };
  found.worth = Math.max(found.worth, Number(net));
}

/** Quotes each pool and amount once: paths share their first hops. */
export function quoteOnce(): QuotePool {
  const known = new Map<Edge, Map<bigint, PoolQuote[]>>();
  return (edge, index, amountIn) => {
    const amounts = known.get(edge) ?? new Map<bigint, PoolQuote[]>();
    known.set(edge, amounts);
    const quotes = amounts.get(amountIn) ?? [];
    amounts.set(amountIn, quotes);
    quotes[index] ??= (edge.curves[index] as Curve).pool.quote(edge.tokenIn, amountIn);
    return quotes[index];
  };
}
