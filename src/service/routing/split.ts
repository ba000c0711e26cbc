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
import type { Pace, Steps } from "./steps.ts";

/** Paths whose edges know what they got. */
export type OpenPath = readonly OpenEdge[];

/** Parts that the input is placed in, one after the other. */
const CHUNKS = 50;

/** A look at a path takes about a microsecond: so many are taken before the clock is looked at. */
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
  pace: Pace,
): Steps<readonly OpenEdge[] | undefined> {
  const used = new Set<OpenEdge>();
  const order = createOrder();
  let last: OpenPath | undefined;
  for (let left = CHUNKS; left > 0; left -= 1) {
    // Sizes 2, 2(n-1)/n, ... 2/n of an even share, about.
    const chunk = (amountIn * 2 * left) / (CHUNKS * (CHUNKS + 1));
    const placed = yield* bestForChunk(paths, { chunk, last, allows: order.allows, pace });
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

interface Placed {
  readonly kind: "placed";
  readonly path: OpenPath;
  readonly choices: readonly PoolChoice[];
  readonly amountOut: number;
}

interface ChunkSearch {
  readonly chunk: number;
  readonly last: OpenPath | undefined;
  readonly allows: (path: OpenPath) => boolean;
  readonly pace: Pace;
}

function* bestForChunk(paths: readonly OpenPath[], search: ChunkSearch): Steps<Placed | undefined> {
  const { chunk, last, allows, pace } = search;
  // The path of the chunk before is likely good again, and a good answer early saves looking at the others.
  let best = last === undefined ? undefined : yield* placeOn(last, chunk, pace);
  let looked = 0;
  for (const path of paths) {
    looked += 1;
    if (looked % PATHS_AT_ONCE === 1 && pace.isOver()) yield;
    const atLeast = best?.amountOut ?? 0;
    if (path === last || spotRate(path) * chunk * RATE_MARGIN <= atLeast || !allows(path)) continue;
    const tried = tryOn(path, chunk);
    const placed = tried?.kind === "unsampled" ? yield* placeOn(path, chunk, pace) : tried;
    if (placed !== undefined && placed.amountOut > atLeast) best = placed;
  }
  return best;
}

/** Samples what the path needs, then places the amount. */
function* placeOn(path: OpenPath, amountIn: number, pace: Pace): Steps<Placed | undefined> {
  for (;;) {
    const tried = tryOn(path, amountIn);
    if (tried?.kind !== "unsampled") return tried;
    yield* tried.curve.reach(tried.amount, pace);
  }
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
 * Keeps the tokens in between in one order: legs run token by token, so nothing may flow from C to D and, on another
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
