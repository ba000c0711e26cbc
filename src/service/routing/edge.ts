import type { Address } from "../../domain/money/address.ts";
import type { PoolQuote, PoolState } from "../pools/pool.ts";

/**
 * The pools between two tokens, in one direction, as a search finds and leaves them.
 *
 * Rates are floating point and only say where looking is worth it; every amount comes from a pool's own quote.
 */
export interface Edge {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** each pool before the trade */
  readonly start: readonly PoolState[];
  /** each pool with what the search did to it so far */
  readonly states: PoolState[];
  /** marginal rates of the pools, fee counted: no amount gets more than that. They only fall while a search fills. */
  readonly rates: number[];
  /** the highest of them */
  rate: number;
  /** best answers for amounts asked before, in this very state */
  readonly best: Map<bigint, PoolChoice>;
}

/** The pool of an edge that pays most for an amount. */
export interface PoolChoice {
  readonly index: number;
  readonly quote: Filled;
}

export type Filled = Extract<PoolQuote, { kind: "filled" }>;

/** State that was not read yet and could change an answer, by pool and direction. */
export type Loads = Map<string, () => Promise<void>>;

/** Rates are products of rounded numbers: so much is allowed for before one of them rules something out. */
export const RATE_MARGIN = 1 + 1e-9;

const ONE_PIPS = 1_000_000;

function marginalRate(state: PoolState, tokenIn: Address): number {
  const { numerator, denominator } = state.spot(tokenIn);
  return (Number(numerator) / Number(denominator)) * (1 - state.pool.feePips / ONE_PIPS);
}

export function createEdge(tokenIn: Address, tokenOut: Address, start: readonly PoolState[]): Edge {
  const rates = start.map((state) => marginalRate(state, tokenIn));
  return { tokenIn, tokenOut, start, states: [...start], rates, rate: Math.max(0, ...rates), best: new Map() };
}

/** The edge as it was before any search, without some pools. */
export function freshEdge({ tokenIn, tokenOut, start, ...edge }: Edge, without: ReadonlySet<PoolState>): Edge {
  if (without.size > 0)
    return createEdge(
      tokenIn,
      tokenOut,
      start.filter((state) => !without.has(state)),
    );
  return { tokenIn, tokenOut, start, states: [...start], rates: [...edge.rates], rate: edge.rate, best: new Map() };
}

/** Lets a pool of the edge stand as a swap leaves it. */
export function fill(edge: Edge, { index, quote }: PoolChoice): void {
  edge.states[index] = quote.after;
  edge.rates[index] = marginalRate(quote.after, edge.tokenIn);
  edge.rate = Math.max(...edge.rates);
  edge.best.clear();
}

/** The pool that pays most for this amount, undefined when none takes it. What had to be read for it goes to `loads`. */
export function choosePool(edge: Edge, amountIn: bigint, loads: Loads): PoolChoice | undefined {
  const known = edge.best.get(amountIn);
  if (known !== undefined) return known;
  const { states, rates } = edge;
  const amount = Number(amountIn) * RATE_MARGIN;
  let best: PoolChoice | undefined;
  let bestOut = 0;
  const unread: { state: PoolState; quote: Extract<PoolQuote, { kind: "unread" }> }[] = [];
  const look = (index: number) => {
    const state = states[index] as PoolState;
    const quote = state.quote(edge.tokenIn, amountIn);
    if (quote.kind === "unread") unread.push({ state, quote });
    if (quote.kind !== "filled" || (best !== undefined && quote.amountOut <= best.quote.amountOut)) return;
    best = { index, quote };
    bestOut = Number(quote.amountOut);
  };
  const first = rates.indexOf(edge.rate);
  if (first >= 0) look(first);
  for (let index = 0; index < states.length; index += 1) {
    if (index !== first && (rates[index] as number) * amount > bestOut) look(index);
  }
  const chosen = best as PoolChoice | undefined;
  for (const { state, quote } of unread) {
    if (quote.atMost > (chosen?.quote.amountOut ?? 0n)) {
      loads.set(`${state.pool.address}${edge.tokenIn}`, quote.load);
    }
  }
  if (chosen !== undefined) edge.best.set(amountIn, chosen);
  return chosen;
}
