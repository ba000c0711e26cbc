import type { PoolQuote, PoolState } from "../pools/pool.ts";
import { type Edge, RATE_MARGIN } from "./edge.ts";
import type { Path } from "./path.ts";
import type { PlannedLeg } from "./plan.ts";
import { PORTION_ALL } from "./plan.ts";

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
  readonly legs: readonly PlannedLeg[];
  readonly amountOut: bigint;
  /** output minus gas */
  readonly net: bigint;
}

interface Search {
  readonly path: Path;
  readonly gasRate: GasRate | undefined;
  readonly quote: (edge: Edge, index: number, amountIn: bigint) => PoolQuote;
}

/** Pools on some path that must be read first, with the most that the path can bring net of gas. */
export interface UnreadPath {
  readonly key: string;
  readonly load: () => Promise<void>;
  readonly atMost: bigint;
}

interface Found {
  best: SinglePath | undefined;
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
 * combination counts; rates and gas rule most of them out before they are quoted.
 */
export function bestPath(
  paths: readonly Path[],
  trade: { readonly amountIn: bigint; readonly gasRate: GasRate | undefined },
): { readonly best: SinglePath | undefined; readonly unread: readonly UnreadPath[] } {
  const found: Found = { best: undefined, unread: [] };
  const quote = quoteOnce();
  const start: Reached = { states: [], amount: trade.amountIn, gas: 0n, unread: undefined };
  const promising = [...paths].sort((a, b) => spotRate(b) - spotRate(a));
  for (const path of promising) walk({ path, gasRate: trade.gasRate, quote }, start, found);
  return found;
}

/** The marginal rate of a path: no amount gets more. */
export function spotRate(path: Path, from = 0): number {
  let rate = 1;
  for (let index = from; index < path.length; index += 1) rate *= (path[index] as Edge).rate;
  return rate;
}

function walk(search: Search, reached: Reached, found: Found): void {
  const { path, gasRate } = search;
  const { states, amount, gas } = reached;
  const edge = path[states.length];
  if (edge === undefined) {
    arrive(search, reached, found);
    return;
  }
  const cost = Number(gasCost(gas, gasRate));
  const onwards = spotRate(path, states.length + 1) * Number(amount) * RATE_MARGIN;
  for (const [index, state] of edge.start.entries()) {
    const bound = onwards * (edge.rates[index] as number) - cost;
    if (found.best !== undefined && bound < Number(found.best.net)) continue;
    const quote = search.quote(edge, index, amount);
    if (quote.kind === "short") continue;
    const next = { states: [...states, state], unread: reached.unread };
    if (quote.kind === "filled") {
      walk(search, { ...next, amount: quote.amountOut, gas: gas + quote.gas }, found);
    } else {
      const unread = reached.unread ?? { key: `${state.pool.address}${edge.tokenIn}`, load: quote.load };
      walk(search, { ...next, amount: quote.atMost, gas, unread }, found);
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
  const legs = path.map(({ tokenIn, tokenOut }, index) => {
    return { state: states[index] as PoolState, tokenIn, tokenOut, portion: PORTION_ALL };
  });
  found.best = { legs, amountOut: amount, net };
}

/** Quotes each pool and amount once: paths share their first hops. */
function quoteOnce(): Search["quote"] {
  const known = new Map<Edge, Map<bigint, PoolQuote[]>>();
  return (edge, index, amountIn) => {
    const amounts = known.get(edge) ?? new Map<bigint, PoolQuote[]>();
    known.set(edge, amounts);
    const quotes = amounts.get(amountIn) ?? [];
    amounts.set(amountIn, quotes);
    quotes[index] ??= (edge.start[index] as PoolState).quote(edge.tokenIn, amountIn);
    return quotes[index];
  };
}
