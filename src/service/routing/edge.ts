import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";
import { Curve } from "./curve.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** The pools between two tokens, in one direction, as they are before a trade. */
export interface Edge {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly curves: readonly Curve[];
  /** the highest marginal rate of the pools, fee counted: no amount gets more */
  readonly rate: number;
}

/** An edge while a search fills it. Rates only fall. */
export interface OpenEdge {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly curves: readonly Curve[];
  /** what each pool got and paid so far */
  readonly amounts: number[];
  readonly outputs: number[];
  readonly rates: number[];
  rate: number;
}

/** Rates are products of rounded numbers: so much is allowed for before one of them rules something out. */
export const RATE_MARGIN = 1 + 1e-9;

/** Curves of a pool, by the token sold: a pool that did not change keeps what was sampled of it. */
const curves = new WeakMap<PoolState, Map<Address, Curve>>();

function curveOf(state: PoolState, tokenIn: Address): Curve {
  const known = curves.get(state) ?? new Map<Address, Curve>();
  curves.set(state, known);
  const curve = known.get(tokenIn) ?? new Curve(state, tokenIn);
  known.set(tokenIn, curve);
  return curve;
}

export function createEdge(tokenIn: Address, tokenOut: Address, states: readonly PoolState[]): Edge {
  const own = states.map((state) => curveOf(state, tokenIn));
  return { tokenIn, tokenOut, curves: own, rate: Math.max(0, ...own.map((curve) => curve.rate)) };
}

/** Opens an edge for one search, without some pools. */
export function openEdge(edge: Edge, without: ReadonlySet<PoolState>): OpenEdge {
  const own = without.size === 0 ? edge.curves : edge.curves.filter((curve) => !without.has(curve.pool));
  const rates = own.map((curve) => curve.rate);
  const { tokenIn, tokenOut } = edge;
  const zeros = () => own.map(() => 0);
  return { tokenIn, tokenOut, curves: own, amounts: zeros(), outputs: zeros(), rates, rate: Math.max(0, ...rates) };
}

/** The pool of an edge that pays most for one more amount, and what. */
export interface PoolChoice {
  readonly kind: "chosen";
  readonly index: number;
  readonly amountOut: number;
}

/** A curve that must be sampled up to the amount before it is known what it pays. */
export interface Unsampled {
  readonly kind: "unsampled";
  readonly curve: Curve;
  readonly amount: number;
}

/** The pool that pays most for one more amount, undefined when none pays. */
export function choosePool(edge: OpenEdge, amountIn: number): PoolChoice | Unsampled | undefined {
  const { curves: own, amounts, outputs, rates } = edge;
  let index = -1;
  let amountOut = 0;
  for (let place = 0; place < own.length; place += 1) {
    if ((rates[place] as number) * amountIn <= amountOut) continue;
    const curve = own[place] as Curve;
    const amount = (amounts[place] as number) + amountIn;
    const paid = curve.knownOutputAt(amount) - (outputs[place] as number);
    if (paid <= amountOut) continue;
    if (Number.isNaN(paid)) return { kind: "unsampled", curve, amount };
    index = place;
    amountOut = paid;
  }
  return index < 0 ? undefined : { kind: "chosen", index, amountOut };
}

/** What one more amount gets on an edge, and the marginal rate at which it does. */
interface NextRate {
  readonly amountOut: number;
  readonly rate: number;
}

const NOTHING: NextRate = { amountOut: 0, rate: 0 };

/** A small amount moves the price of a market by less than this, and rounding takes a unit of what it pays. */
const SMALL_MOVE = 1.01;
const ROUNDED_OFF = 1;

/** {@link choosePool} that samples what it must: any price can stand in a pool that takes next to nothing at it. */
export function* nextRate(edge: OpenEdge, amountIn: number, budget: SearchBudget): Steps<NextRate> {
  for (;;) {
    const choice = choosePool(edge, amountIn);
    if (choice === undefined) return NOTHING;
    if (choice.kind === "unsampled") {
      yield* choice.curve.reach(choice.amount, budget);
      continue;
    }
    const { index, amountOut } = choice;
    const atMost = ((amountOut + ROUNDED_OFF) / amountIn) * SMALL_MOVE;
    return { amountOut, rate: Math.min(edge.rates[index] as number, atMost) };
  }
}

/** Gives the amount to the pool. */
export function fill(edge: OpenEdge, { index, amountOut }: PoolChoice, amountIn: number): void {
  const amount = (edge.amounts[index] as number) + amountIn;
  edge.amounts[index] = amount;
  edge.outputs[index] = (edge.outputs[index] as number) + amountOut;
  edge.rates[index] = (edge.curves[index] as Curve).rateAt(amount);
  edge.rate = Math.max(...edge.rates);
}

/** Brings what the pools paid, and their rates, in line with amounts that were set from outside. */
export function closeEdge(edge: OpenEdge): void {
  for (const [index, curve] of edge.curves.entries()) {
    const amount = edge.amounts[index] as number;
    edge.outputs[index] = curve.outputAt(amount);
    edge.rates[index] = curve.rateAt(amount);
  }
  edge.rate = Math.max(...edge.rates);
}
