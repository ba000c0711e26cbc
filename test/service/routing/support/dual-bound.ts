import type { Address } from "../../../../src/domain/money/address.ts";
import type { PoolState } from "../../../../src/service/pools/pool.ts";

/**
 * An upper bound of what any routing whatever can bring, and nothing of the router in it.
 *
 * Give every token a value v, the bought one 1. All pools together turn the input into the output, so by value: output <=
 * v(sold) x input + sum over pools of (value that comes out - value that goes in). No pool can give more than the profit
 * of the best trade against it at these values, whatever the others do. So for ANY values
 *
 *   bound(v) = v(sold) x input + sum of best profits(v)
 *
 * is at least the output of any routing: any split, order, number of hops, circles included (this is Lagrange duality;
 * Angeris et al., arXiv 2204.05238). The bound is convex in v, and its least value is found by descent; a bad descent
 * makes it looser, never wrong. Gas is not counted.
 */
export interface Bound {
  readonly amountOut: number;
  readonly values: ReadonlyMap<Address, number>;
}

type Values = ReadonlyMap<Address, number>;

/** Values, and what a typical amount is worth in them. */
export interface Prices {
  readonly values: Values;
  readonly worth: number;
}

/** The best trade against a pool at some values: a certified most of its profit, and its flows. */
interface PoolProfit {
  readonly atMost: number;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly after: PoolState;
}

/** Floating point of the sums below is better than this by far. */
const FLOAT_MARGIN = 1 + 1e-11;

/** An amount sold into a pool, and what it brings at some values. */
interface Probe {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly profit: number;
  readonly after: PoolState;
}

/** Amounts are tried from a small part of the typical one upwards, each so many times the one before. */
const LADDER_STEP = 4n;
const LADDER_START = 1 / 256;

/** Steps of the search for the best amount; each narrows its place to five eighths. */
const NARROWINGS = 26;

/**
 * The profit of selling into a pool is concave in the amount. Between three amounts of which the middle one is best, the
 * lines through the middle and either side bound it.
 */
function bestProfit(state: PoolState, { values, worth }: Prices, tokenIn: Address): PoolProfit | undefined {
  const { token0, token1 } = state.pool;
  const tokenOut = tokenIn === token0 ? token1 : token0;
  const [valueIn, valueOut] = [values.get(tokenIn)!, values.get(tokenOut)!];
  if (spotRate(state, tokenIn) * (1 - state.pool.feePips / 1e6) * valueOut <= valueIn) return undefined;
  const probe = (amountIn: bigint): Probe => {
    const quote = state.quote(tokenIn, amountIn);
    if (quote.kind !== "filled") return { amountIn, amountOut: 0n, profit: Number.NEGATIVE_INFINITY, after: state };
    const profit = Number(quote.amountOut) * valueOut - Number(amountIn) * valueIn;
    return { amountIn, amountOut: quote.amountOut, profit, after: quote.after };
  };
  // Rounding hides the profit of amounts that are too small, so the ladder goes on to the typical one.
  const none: Probe = { amountIn: 0n, amountOut: 0n, profit: 0, after: state };
  let low = none;
  let middle = none;
  let high = probe(BigInt(Math.ceil((worth * LADDER_START) / valueIn)));
  const isHidden = () => middle.amountIn === 0n && high.amountIn < BigInt(Math.ceil(worth / valueIn));
  while (high.profit > middle.profit || isHidden()) {
    const next = probe(high.amountIn * LADDER_STEP);
    if (high.profit > middle.profit) [low, middle] = [middle, high];
    high = next;
  }
  if (middle.amountIn === 0n) middle = probe(high.amountIn / LADDER_STEP);
  for (let step = 0; step < NARROWINGS; step += 1) {
    const isUpper = high.amountIn - middle.amountIn > middle.amountIn - low.amountIn;
    const side = isUpper ? high : low;
    const next = probe(middle.amountIn + ((side.amountIn - middle.amountIn) * 3n) / 8n);
    if (next.amountIn === middle.amountIn) break;
    if (next.profit > middle.profit) {
      if (isUpper) low = middle;
      else high = middle;
      middle = next;
    } else if (isUpper) high = next;
    else low = next;
  }
  const best = middle.profit > low.profit ? middle : low;
  const slack = Math.max(beyond(low, middle, high), beyond(high, middle, low));
  // The pool rounds by less than one unit of what it pays; lines through rounded points may be off by a few.
  const atMost = best.profit + slack + gainOfParts(state, high, tokenIn) * valueOut + 4 * valueOut;
  return { atMost, tokenIn, tokenOut, ...best };
}

function spotRate(state: PoolState, tokenIn: Address): number {
  const { numerator, denominator } = state.spot(tokenIn);
  return Number(numerator) / Number(denominator);
}

/**
 * What parts of a trade, one after the other, bring at most beyond the trade as a whole. Other pools charge their input, so
 * parts bring no more. A stable pool leaves part of its fee, which is charged on the output, where later parts buy: that
 * is as if it had held that part from the start. Of each unit that a pool holds more of what it pays, it pays no more than
 * the share by which the trade lowers its price, since along its invariant the slope to the coin sold falls too. Doubled,
 * for the price is looked at after the whole trade, and parts may reach a little further than it.
 */
function gainOfParts(state: PoolState, whole: Probe, tokenIn: Address): number {
  if (state.pool.kind !== 3) return 0;
  const fee = (state.pool.feePips + 1) / 1e6;
  const fall = 1 - spotRate(whole.after, tokenIn) / spotRate(state, tokenIn);
  return 2 * fee * Number(whole.amountOut) * Math.max(0, fall);
}

/** How far the line from one point through the middle rises until it is above the other. */
function beyond(from: Probe, middle: Probe, to: Probe): number {
  const run = Number(middle.amountIn - from.amountIn);
  if (run === 0) return 0;
  const rise = ((middle.profit - from.profit) / run) * Number(to.amountIn - middle.amountIn);
  // A point that the pool cannot serve says nothing about the other side: then there is no bound, and it shows.
  return Number.isNaN(rise) ? Number.POSITIVE_INFINITY : Math.max(0, rise);
}

function profitOf(state: PoolState, values: Prices): PoolProfit | undefined {
  return bestProfit(state, values, state.pool.token0) ?? bestProfit(state, values, state.pool.token1);
}

/** Trades every pool to these values: then no circle of them has a profit, which is what `values` prove. */
export function arbitrage(states: readonly PoolState[], prices: Prices): readonly PoolState[] {
  return states.map((state) => profitOf(state, prices)?.after ?? state);
}

interface Trade {
  readonly from: Address;
  readonly to: Address;
  readonly amountIn: bigint;
}

/** The bound at some values, and how it changes with the logarithm of each. */
function evaluate(states: readonly PoolState[], trade: Trade, values: Values, tokens: readonly Address[]) {
  let bound = Number(trade.amountIn) * values.get(trade.from)!;
  const prices = { values, worth: bound };
  const net = new Map<Address, number>([[trade.from, Number(trade.amountIn)]]);
  for (const state of states) {
    const profit = profitOf(state, prices);
    if (profit === undefined) continue;
    bound += profit.atMost;
    net.set(profit.tokenOut, (net.get(profit.tokenOut) ?? 0) + Number(profit.amountOut));
    net.set(profit.tokenIn, (net.get(profit.tokenIn) ?? 0) - Number(profit.amountIn));
  }
  return { bound, slope: tokens.map((token) => (net.get(token) ?? 0) * values.get(token)!) };
}

const MAX_ROUNDS = 120;

/**
 * The least bound that descent finds (BFGS on the logarithms of the values).
 * @param start any positive values; near the market's prices the descent is short
 */
export function dualBound(states: readonly PoolState[], trade: Trade, start: Values): Bound {
  const tokens = [...start.keys()].filter((token) => token !== trade.to);
  const base = start.get(trade.to)!;
  const valuesAt = (x: readonly number[]): Values =>
    new Map([
      ...tokens.map((token, i): [Address, number] => [token, (start.get(token)! / base) * Math.exp(x[i]!)]),
      [trade.to, 1],
    ]);
  const scale = (Number(trade.amountIn) * start.get(trade.from)!) / base;
  const at = (x: readonly number[]): Point => {
    const { bound, slope } = evaluate(states, trade, valuesAt(x), tokens);
    return { x, bound: bound / scale, slope: slope.map((one) => one / scale) };
  };
  let here = at(tokens.map(() => 0));
  let inverse = identity(tokens.length);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let direction = inverse.map((row) => -dot(row, here.slope));
    if (dot(direction, here.slope) >= 0) {
      inverse = identity(tokens.length);
      direction = here.slope.map((one) => -one);
    }
    const next = search(here, direction, at);
    if (next === undefined || here.bound - next.bound < 1e-8) {
      if (next !== undefined && next.bound < here.bound) here = next;
      break;
    }
    inverse = update(
      inverse,
      next.x.map((one, i) => one - here.x[i]!),
      next.slope.map((one, i) => one - here.slope[i]!),
    );
    here = next;
  }
  return { amountOut: here.bound * scale * FLOAT_MARGIN, values: valuesAt(here.x) };
}

interface Point {
  readonly x: readonly number[];
  readonly bound: number;
  readonly slope: readonly number[];
}

/** A step along the direction that lowers the bound: halved until it does, at most so far that prices stay prices. */
function search(here: Point, direction: readonly number[], at: (x: readonly number[]) => Point): Point | undefined {
  const longest = Math.max(...direction.map(Math.abs));
  const descent = dot(direction, here.slope);
  for (let length = Math.min(1, 0.1 / longest), tries = 0; tries < 40; length /= 2, tries += 1) {
    const next = at(here.x.map((one, i) => one + length * direction[i]!));
    if (next.bound <= here.bound + 1e-4 * length * descent) return next;
  }
  return undefined;
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, one, i) => sum + one * b[i]!, 0);
}

function identity(size: number): number[][] {
  return Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => (i === j ? 1e-1 : 0)));
}

/** BFGS on the inverse: H + (1 + yHy/sy) ss/sy - (Hy s + s Hy)/sy. */
function update(inverse: number[][], s: readonly number[], y: readonly number[]): number[][] {
  const sy = dot(s, y);
  if (sy <= 1e-18) return inverse;
  const hy = inverse.map((row) => dot(row, y));
  const factor = (1 + dot(y, hy) / sy) / sy;
  return inverse.map((row, i) =>
    row.map((one, j) => one + factor * s[i]! * s[j]! - (hy[i]! * s[j]! + s[i]! * hy[j]!) / sy),
  );
}
