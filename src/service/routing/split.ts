import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";
import {
  choosePool,
  type Edge,
  fill,
  type OpenEdge,
  openEdge,
  type PoolChoice,
  RATE_MARGIN,
  type Unsampled,
} from "./edge.ts";
import { type Path, spotRate } from "./path.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** Paths whose edges know what they got. */
export type OpenPath = readonly OpenEdge[];

/** Parts that the input is placed in, one after the other. */
const CHUNKS = 50;

/** The part of the input that is placed last. */
export const SMALLEST_CHUNK = 2 / (CHUNKS * (CHUNKS + 1));

/** Trying a path takes about a microsecond: after so many, and a whole chunk, the clock is read. */
const PATHS_AT_ONCE = 64;

/** Opens all edges of the paths for one search, each once; without some pools. */
export function openPaths(paths: readonly Path[], without: ReadonlySet<PoolState>): readonly OpenPath[] {
  const opened = new Map<Edge, OpenEdge>();
  const open = (edge: Edge): OpenEdge => {
    const known = opened.get(edge) ?? openEdge(edge, without);
    opened.set(edge, known);
    return known;
  };
  return paths.map((path) => path.map(open)).filter((path) => path.every((edge) => edge.curves.length > 0));
}

/**
 * Places the input chunk by chunk, each on the path that pays most for it now; the edges keep what earlier chunks gave
 * them, so that paths may share pools.
 *
 * Chunks shrink: large ones reach the neighbourhood of the best split quickly, small ones find it.
 * @returns the edges that got something, or undefined when some chunk finds no path
 */
export function* splitInput(
  paths: readonly OpenPath[],
  amountIn: number,
  budget: SearchBudget,
): Steps<readonly OpenEdge[] | undefined> {
  const used = new Set<OpenEdge>();
  const order = createOrder();
  let last: OpenPath | undefined;
  let searches = 0;
  for (let left = CHUNKS; left > 0; left -= 1) {
    searches += paths.length;
    if (searches >= PATHS_AT_ONCE) {
      searches = 0;
      if (budget.isOver()) yield;
    }
    // Sizes 2, 2(n-1)/n, ... 2/n of an even share, about.
    const chunk = amountIn * left * SMALLEST_CHUNK;
    const search: PathSearch = { chunk, last, allows: order.allows, next: 0, best: undefined };
    for (let missing = searchOn(paths, search); missing !== undefined; missing = searchOn(paths, search)) {
      yield* missing.curve.reach(missing.amount, budget);
    }
    const placed = search.best;
    if (placed === undefined) return undefined;
    let amount = chunk;
    for (const [position, choice] of placed.choices.entries()) {
      const edge = placed.path[position] as OpenEdge;
      fill(edge, choice, amount);
      used.add(edge);
      amount = choice.amountOut;
    }
    if (placed.path !== last) order.use(placed.path);
    last = placed.path;
  }
  return [...used];
}

/**
 * Gives the paths' edges what the pools of an earlier split got, as far as they still lead on from one end to the other.
 * What dropped pools got is missing: {@link refine} sees shares only.
 * @param earlier edges that got something
 * @returns the edges that got something, or undefined where nothing of the split is left
 */
export function keepSplit(
  paths: readonly OpenPath[],
  earlier: readonly OpenEdge[],
  { from, to }: { readonly from: Address; readonly to: Address },
): readonly OpenEdge[] | undefined {
  const open = [...new Set(paths.flat())];
  let kept = earlier.flatMap((before) => {
    const edge = open.find((one) => one.tokenIn === before.tokenIn && one.tokenOut === before.tokenOut);
    const amounts = edge?.curves.map((curve) => before.amounts[before.curves.indexOf(curve)] ?? 0) ?? [];
    return edge !== undefined && amounts.some((amount) => amount > 0) ? [{ edge, amounts }] : [];
  });
  for (let count = -1; count !== kept.length; ) {
    count = kept.length;
    const sold = new Set(kept.map(({ edge }) => edge.tokenIn));
    kept = kept.filter(({ edge }) => edge.tokenOut === to || sold.has(edge.tokenOut));
  }
  if (!kept.some(({ edge }) => edge.tokenIn === from)) return undefined;
  for (const { edge, amounts } of kept) edge.amounts.splice(0, amounts.length, ...amounts);
  return kept.map(({ edge }) => edge);
}

interface Placed {
  readonly kind: "placed";
  readonly path: OpenPath;
  readonly choices: readonly PoolChoice[];
  readonly amountOut: number;
}

/** A search for the path of one chunk. */
interface PathSearch {
  readonly chunk: number;
  /** the path of the chunk before */
  readonly last: OpenPath | undefined;
  readonly allows: (path: OpenPath) => boolean;
  /** how many paths were tried, the last one before all others */
  next: number;
  best: Placed | undefined;
}

/**
 * Tries all paths, as far as their curves are sampled. Plain code, since it runs some fifty times a split.
 * @returns what must be sampled before the search can go on where it stopped; undefined at its end
 */
function searchOn(paths: readonly OpenPath[], search: PathSearch): Unsampled | undefined {
  for (; search.next <= paths.length; search.next += 1) {
    const path = pathToTry(paths, search);
    const tried = path === undefined ? undefined : tryOn(path, search.chunk);
    if (tried?.kind === "unsampled") return tried;
    if (tried !== undefined && isBetter(tried, search)) search.best = tried;
  }
  return undefined;
}

/**
 * The path of the chunk before is likely good again, and a good answer early saves looking at the others.
 * @returns undefined where there is none, where it was tried, and where it cannot be better or may not be used
 */
function pathToTry(paths: readonly OpenPath[], { next, last, best, chunk, allows }: PathSearch): OpenPath | undefined {
  if (next === 0) return last;
  const path = paths[next - 1];
  if (path === undefined || path === last) return undefined;
  const isHopeless = spotRate(path) * chunk * RATE_MARGIN <= (best?.amountOut ?? 0);
  return isHopeless || !allows(path) ? undefined : path;
}

function isBetter({ amountOut }: Placed, { next, best }: PathSearch): boolean {
  return next === 0 || amountOut > (best?.amountOut ?? 0);
}

function tryOn(path: OpenPath, amountIn: number): Placed | Unsampled | undefined {
  const choices: PoolChoice[] = [];
  let amount = amountIn;
  for (const edge of path) {
    const choice = choosePool(edge, amount);
    if (choice?.kind !== "chosen") return choice;
    choices.push(choice);
    amount = choice.amountOut;
  }
  return { kind: "placed", path, choices, amountOut: amount };
}

/**
 * Keeps the tokens in between in one order: hops run token by token, so nothing may flow from C to D and, on another
 * path, from D back to C. That would be a loss against itself anyway.
 */
function createOrder() {
  const next = new Map<Address, Set<Address>>();
  const leads = (from: Address, to: Address): boolean => {
    if (from === to) return true;
    for (const token of next.get(from) ?? []) if (leads(token, to)) return true;
    return false;
  };
  const between = (path: OpenPath) => path.slice(1, -1);
  return {
    allows: (path: OpenPath) => path.length < 3 || between(path).every((edge) => !leads(edge.tokenOut, edge.tokenIn)),
    use(path: OpenPath) {
      for (const { tokenIn, tokenOut } of between(path)) {
        next.set(tokenIn, (next.get(tokenIn) ?? new Set()).add(tokenOut));
      }
    },
  };
}
