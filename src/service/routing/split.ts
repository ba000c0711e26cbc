import type { Address } from "../../domain/money/address.ts";
import { spotRate } from "./best-path.ts";
import { choosePool, type Edge, fill, type Loads, type PoolChoice, RATE_MARGIN } from "./edge.ts";
import type { Path } from "./path.ts";

/** How much of its input each pool got, by edge and the pool's place in it. */
export type Flow = ReadonlyMap<Edge, ReadonlyMap<number, bigint>>;

/** Parts that the input is placed in, one after the other. */
const CHUNKS = 50n;

/**
 * Places the input chunk by chunk, each on the path that pays most for it now; the pools keep what earlier chunks did
 * to them, so that paths may share pools. The edges are left as the whole input leaves them.
 *
 * Chunks shrink: large ones reach the neighbourhood of the best split quickly, small ones find it.
 * @returns undefined when some chunk finds no path
 */
export function splitInput(paths: readonly Path[], amountIn: bigint, loads: Loads): Flow | undefined {
  const flow = new Map<Edge, Map<number, bigint>>();
  const order = createOrder();
  let rest = amountIn;
  let last: Path | undefined;
  for (let left = CHUNKS; left > 0n && rest > 0n; left -= 1n) {
    // Sizes 2 : 2(n-1)/n : ... : 2/n of an even share; the last one takes what rounding left.
    const chunk = left === 1n ? rest : (amountIn * 2n * left) / (CHUNKS * (CHUNKS + 1n));
    if (chunk === 0n) continue;
    const placed = bestForChunk(paths, { chunk, last, loads, allows: order.allows });
    if (placed === undefined) return undefined;
    let amount = chunk;
    for (const [position, choice] of placed.choices.entries()) {
      const edge = placed.path[position] as Edge;
      const pools = flow.get(edge) ?? new Map<number, bigint>();
      pools.set(choice.index, (pools.get(choice.index) ?? 0n) + amount);
      flow.set(edge, pools);
      fill(edge, choice);
      amount = choice.quote.amountOut;
    }
    order.use(placed.path);
    last = placed.path;
    rest -= chunk;
  }
  return flow;
}

interface Placed {
  readonly path: Path;
  readonly choices: readonly PoolChoice[];
  readonly amountOut: bigint;
}

function bestForChunk(
  paths: readonly Path[],
  search: { chunk: bigint; last: Path | undefined; loads: Loads; allows: (path: Path) => boolean },
): Placed | undefined {
  const { chunk, last, loads, allows } = search;
  const amount = Number(chunk) * RATE_MARGIN;
  // The path of the chunk before is likely good again, and a good answer early saves quotes of all the others.
  let best = last === undefined ? undefined : quotePath(last, chunk, loads);
  let bestOut = best === undefined ? 0 : Number(best.amountOut);
  for (const path of paths) {
    if (path === last || spotRate(path) * amount <= bestOut || !allows(path)) continue;
    const placed = quotePath(path, chunk, loads);
    if (placed === undefined || (best !== undefined && placed.amountOut <= best.amountOut)) continue;
    best = placed;
    bestOut = Number(placed.amountOut);
  }
  return best;
}

function quotePath(path: Path, amountIn: bigint, loads: Loads): Placed | undefined {
  const choices: PoolChoice[] = [];
  let amount = amountIn;
  for (const edge of path) {
    const choice = choosePool(edge, amount, loads);
    if (choice === undefined) return undefined;
    choices.push(choice);
    amount = choice.quote.amountOut;
  }
  return { path, choices, amountOut: amount };
}

/**
 * Keeps the tokens in between in one order: legs run token by token, so nothing may flow from C to D and, on another
 * path, from D back to C. That would be a loss against itself anyway.
 */
function createOrder() {
  const next = new Map<Address, Set<Address>>();
  const between = (path: Path) => path.slice(1, -1);
  const leads = (from: Address, to: Address): boolean => {
    if (from === to) return true;
    for (const token of next.get(from) ?? []) if (leads(token, to)) return true;
    return false;
  };
  return {
    allows: (path: Path) => between(path).every((edge) => !leads(edge.tokenOut, edge.tokenIn)),
    use(path: Path) {
      for (const { tokenIn, tokenOut } of between(path)) {
        next.set(tokenIn, (next.get(tokenIn) ?? new Set()).add(tokenOut));
      }
    },
  };
}
