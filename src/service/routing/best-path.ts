import type { Address } from "../../domain/money/address.ts";
import { mulDivDown } from "../../domain/money/amount.ts";
import type { PoolQuote } from "../pools/pool.ts";
import type { Hop, Path } from "./path.ts";
import { type Leg, PORTION_ALL, performLegs } from "./plan.ts";

/** What gas costs in the token bought: `amount` of it is worth `gas` units of gas. */
export interface GasRate {
  readonly amount: bigint;
  readonly gas: bigint;
}

/** The route a quote stands on. */
export interface Route {
  readonly legs: readonly Leg[];
  readonly amountOut: bigint;
  /** gas of the pools alone */
  readonly gas: bigint;
  /** output at the marginal prices before the trade, pool fees counted: what an infinitely small trade would get */
  readonly spotAmountOut: bigint;
}

export type BestPath =
  | { readonly kind: "found"; readonly route: Route }
  | { readonly kind: "none" }
  /** some paths need state that was not read yet */
  | { readonly kind: "unread"; readonly loads: readonly (() => Promise<void>)[] };

/** Quotes each pool and amount once: paths share their first hops. */
function quoteOnce(): (hop: Hop, amountIn: bigint) => PoolQuote {
  const known = new Map<string, PoolQuote>();
  return (hop, amountIn) => {
    const key = `${hop.state.pool.address}${hop.tokenIn}${amountIn}`;
    const quote = known.get(key) ?? hop.state.quote(hop.tokenIn, amountIn);
    known.set(key, quote);
    return quote;
  };
}

/**
 * The path with the highest output net of gas. All outputs are exact; without a gas rate the gross output decides.
 * Gas that all paths share does not matter here, so only that of the pools is counted.
 */
export function bestPath(
  paths: readonly Path[],
  trade: { readonly from: Address; readonly to: Address; readonly amountIn: bigint },
  gasRate: GasRate | undefined,
): BestPath {
  const quote = quoteOnce();
  const unread: { load: () => Promise<void>; atMost: bigint }[] = [];
  let best: { path: Path; net: bigint } | undefined;
  for (const path of paths) {
    const outcome = quotePath(path, trade.amountIn, quote);
    if (outcome.kind === "unread") unread.push(outcome);
    if (outcome.kind !== "filled") continue;
    const gasCost = gasRate === undefined ? 0n : mulDivDown(outcome.gas, gasRate.amount, gasRate.gas);
    const net = outcome.amountOut - gasCost;
    if (best === undefined || net > best.net) best = { path, net };
  }
  // State that could not change the answer is not worth a round trip.
  const loads = unread.filter(({ atMost }) => best === undefined || atMost > best.net).map(({ load }) => load);
  if (loads.length > 0) return { kind: "unread", loads };
  return best === undefined ? { kind: "none" } : { kind: "found", route: toRoute(best.path, trade) };
}

type PathQuote =
  | { kind: "filled"; amountOut: bigint; gas: bigint }
  | { kind: "short" }
  | { kind: "unread"; load: () => Promise<void>; atMost: bigint };

function quotePath(path: Path, amountIn: bigint, quote: (hop: Hop, amountIn: bigint) => PoolQuote): PathQuote {
  let amount = amountIn;
  let gas = 0n;
  let load: (() => Promise<void>) | undefined;
  for (const hop of path) {
    const answer = quote(hop, amount);
    if (answer.kind === "short") return answer;
    if (answer.kind === "unread") {
      load ??= answer.load;
      amount = answer.atMost;
    } else {
      gas += answer.gas;
      amount = answer.amountOut;
    }
  }
  return load === undefined ? { kind: "filled", amountOut: amount, gas } : { kind: "unread", load, atMost: amount };
}

/** Performs the chosen path as the executor will; the amounts of a route always come from there. */
function toRoute(path: Path, trade: { from: Address; to: Address; amountIn: bigint }): Route {
  const legs = path.map((hop) => ({ ...hop, portion: PORTION_ALL }));
  const performance = performLegs(legs, trade);
  if (performance.kind !== "filled") throw new Error("a path that was quoted cannot be performed");
  const { amountOut, gas } = performance;
  return { legs: performance.legs, amountOut, gas, spotAmountOut: spotAmountOut(path, trade.amountIn) };
}

const ONE_PIPS = 1_000_000n;

/** Formula: in x product of (spot price x (1 - pool fee)), rounded down once. */
function spotAmountOut(path: Path, amountIn: bigint): bigint {
  let numerator = amountIn;
  let denominator = 1n;
  for (const { state, tokenIn } of path) {
    const spot = state.spot(tokenIn);
    numerator *= spot.numerator * (ONE_PIPS - BigInt(state.pool.feePips));
    denominator *= spot.denominator * ONE_PIPS;
  }
  return numerator / denominator;
}
