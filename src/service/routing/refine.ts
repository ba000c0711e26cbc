import type { Address } from "../../domain/money/address.ts";
import type { Curve } from "./curve.ts";
import { closeEdge, type OpenEdge, type Unsampled } from "./edge.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** Rounds of exchange; each costs one quote of every pool. */
const MAX_ROUNDS = 60;

/** Marginal values this close to each other are equal: what is left to gain is far less than that. */
const CLOSE = 3e-5;

/** A round that brings less than this is the last one: a thousandth of a basis point. */
const LEAST_GAIN = 1 + 1e-7;

/** How often a move that proves too large is made smaller. */
const MAX_TRIES = 4;

/** Halvings on the way to the amount that makes two pools equal. */
const HALVINGS = 16;

/** A pool that may take some of a token, and leads on to another. */
interface Branch {
  readonly edge: OpenEdge;
  readonly index: number;
  readonly curve: Curve;
  /** place of the token that it buys */
  readonly to: number;
  /** share of the token that the pool gets */
  share: number;
  /** it takes next to nothing at the price that it shows, if anything: it gets no more */
  isFull: boolean;
}

interface RefineTrade {
  readonly from: Address;
  readonly to: Address;
  readonly amountIn: number;
}

/** How much of each token arrives, by its place. */
type Inflows = Float64Array;

/** What is refined. Tokens have places: each stands behind all that lead to it, the bought one behind all others. */
interface Flow {
  /** the pools that sell the token of each place but the last */
  readonly nodes: readonly (readonly Branch[])[];
  readonly amountIn: number;
  readonly budget: SearchBudget;
}

/**
 * Moves input between the pools of a token until one more unit is worth the same in all that get some. Chunks cannot
 * take back what they gave, and a pool that several paths share is dearer in the end than it seemed at first.
 *
 * @param used edges that got something: only tokens on them are met, in their order
 * @param all edges of the search
 */
export function* refine(
  used: readonly OpenEdge[],
  all: readonly OpenEdge[],
  { budget, ...trade }: RefineTrade & { readonly budget: SearchBudget },
): Steps<readonly OpenEdge[]> {
  const order = tokenOrder(used, trade.from);
  const place = new Map(order.map((token, index) => [token, index]));
  place.set(trade.to, order.length);
  const leadsOn = (edge: OpenEdge) =>
    (place.get(edge.tokenIn) ?? Number.POSITIVE_INFINITY) < (place.get(edge.tokenOut) ?? -1);
  const edges = all.filter(leadsOn);
  const nodes = order.map((token) => branchesOf(token, edges, place));
  const flow = { nodes, amountIn: trade.amountIn, budget };
  let amountOut = bought(yield* pourThrough(flow));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const better = yield* exchangeAll(flow, amountOut);
    if (better <= amountOut * LEAST_GAIN) break;
    amountOut = better;
  }
  const inflows = yield* pourThrough(flow);
  for (const [token, branches] of nodes.entries()) {
    for (const { edge, index, share } of branches) edge.amounts[index] = share * (inflows[token] as number);
  }
  for (const edge of edges) closeEdge(edge);
  return edges.filter((edge) => edge.amounts.some((amount) => amount > 0));
}

/** The tokens that are sold on the way, each after all that lead to it. */
export function tokenOrder(edges: readonly OpenEdge[], from: Address): readonly Address[] {
  const order: Address[] = [from];
  let waiting = edges.filter((edge) => edge.tokenIn !== from);
  while (waiting.length > 0) {
    const awaited = new Set(waiting.map((edge) => edge.tokenOut));
    const next = waiting.find((edge) => !awaited.has(edge.tokenIn))?.tokenIn;
    if (next === undefined) throw new Error("the edges of a route run in a circle");
    order.push(next);
    waiting = waiting.filter((edge) => edge.tokenIn !== next);
  }
  return order;
}

function branchesOf(
  token: Address,
  edges: readonly OpenEdge[],
  place: ReadonlyMap<Address, number>,
): readonly Branch[] {
  const leaving = edges.filter((edge) => edge.tokenIn === token);
  const total = leaving.reduce((sum, edge) => sum + edge.amounts.reduce((part, amount) => part + amount, 0), 0);
  return leaving.flatMap((edge) => {
    const to = place.get(edge.tokenOut) as number;
    return edge.curves.map((curve, index) => ({
      edge,
      index,
      curve,
      to,
      share: (edge.amounts[index] as number) / total,
      isFull: false,
    }));
  });
}

/** How much of each token arrives, with the shares as they are. */
function* pourThrough(flow: Flow): Steps<Inflows> {
  const inflows = new Float64Array(flow.nodes.length + 1);
  for (;;) {
    const missing = tryPour(flow, inflows);
    if (missing === undefined) return inflows;
    yield* missing.curve.reach(missing.amount, flow.budget);
  }
}

/** @returns what must be sampled before it is known what arrives */
function tryPour({ nodes, amountIn }: Flow, inflows: Inflows): Unsampled | undefined {
  inflows.fill(0);
  inflows[0] = amountIn;
  for (let token = 0; token < nodes.length; token += 1) {
    const inflow = inflows[token] as number;
    for (const { curve, to, share } of nodes[token] as readonly Branch[]) {
      if (share === 0) continue;
      const amount = share * inflow;
      const output = curve.knownOutputAt(amount);
      if (Number.isNaN(output)) return { kind: "unsampled", curve, amount };
      inflows[to] = (inflows[to] as number) + output;
    }
  }
  return undefined;
}

function bought(inflows: Inflows): number {
  return inflows[inflows.length - 1] as number;
}

/**
 * One exchange at each token, the last ones first, since what a token is worth depends on those after it.
 * @returns the output afterwards
 */
function* exchangeAll(flow: Flow, before: number): Steps<number> {
  const { nodes, budget } = flow;
  // What one more unit of each token is worth, by its place.
  const values = new Float64Array(nodes.length + 1).fill(1, nodes.length);
  const inflows = yield* pourThrough(flow);
  let amountOut = before;
  for (let token = nodes.length - 1; token >= 0; token -= 1) {
    if (budget.isOver()) yield;
    const inflow = inflows[token] as number;
    const marginalOf = ({ curve, to }: Branch, share: number) => curve.rateAt(share * inflow) * (values[to] as number);
    for (;;) {
      const { best, worst, value, isLevel } = rank(nodes[token] as readonly Branch[], marginalOf);
      values[token] = value;
      if (best === undefined || worst === undefined || isLevel) break;
      // As much as the better pool may be asked for.
      yield* best.curve.reach((best.share + worst.share) * inflow, budget);
      amountOut = yield* exchange({ best, worst, marginalOf }, amountOut, flow);
      if (!best.isFull) break;
    }
  }
  return amountOut;
}

/** Where one more unit is worth most, where it is worth least among those that get some, and what a unit is worth. */
function rank(branches: readonly Branch[], marginalOf: (branch: Branch, share: number) => number) {
  let best: Branch | undefined;
  let worst: Branch | undefined;
  let [highest, lowest, value] = [0, Number.POSITIVE_INFINITY, 0];
  for (const branch of branches) {
    const marginal = marginalOf(branch, branch.share);
    value += branch.share * marginal;
    if (marginal > highest && !branch.isFull) [best, highest] = [branch, marginal];
    if (branch.share > 0 && marginal < lowest) [worst, lowest] = [branch, marginal];
  }
  return { best, worst, value, isLevel: highest - lowest <= CLOSE * highest };
}

/**
 * Moves as much from the worse pool to the better one as makes them equal if nothing after them changes; less when that
 * proves too much, because what they lead to gets dearer.
 * @returns the output afterwards
 */
function* exchange(
  { best, worst, marginalOf }: { best: Branch; worst: Branch; marginalOf: (branch: Branch, share: number) => number },
  before: number,
  flow: Flow,
): Steps<number> {
  const isStillBetter = (share: number) =>
    marginalOf(best, best.share + share) > marginalOf(worst, worst.share - share);
  let [low, high] = [0, worst.share];
  if (isStillBetter(high)) low = high;
  for (let halving = 0; halving < HALVINGS && low < high; halving += 1) {
    const middle = (low + high) / 2;
    if (isStillBetter(middle)) low = middle;
    else high = middle;
  }
  // Any price can stand in a pool that is all but empty; others are to be looked at in its place.
  best.isFull = low === 0;
  if (best.isFull) return before;
  const [bestShare, worstShare] = [best.share, worst.share];
  for (let moved = low, tries = 0; tries < MAX_TRIES; moved /= 3, tries += 1) {
    best.share = bestShare + moved;
    worst.share = moved === worstShare ? 0 : worstShare - moved;
    const after = bought(yield* pourThrough(flow));
    if (after > before) return after;
  }
  best.share = bestShare;
  worst.share = worstShare;
  return before;
}
