import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";

/** One pool on the way, with its direction. */
export interface Hop {
  readonly state: PoolState;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/** Pools one after the other; no token is met twice. */
export type Path = readonly Hop[];

/** The most paths that one search looks at. */
const MAX_PATHS = 2_000;

/**
 * All simple paths between two tokens over the given tokens in between, shortest first.
 * @param poolsOf the pools of two tokens, at one block
 */
export function findPaths(
  search: { from: Address; to: Address; via: readonly Address[]; maxHops: number },
  poolsOf: (tokenA: Address, tokenB: Address) => readonly PoolState[],
): readonly Path[] {
  const found: Path[] = [];
  let open: Path[] = [[]];
  for (let length = 1; length <= search.maxHops && found.length < MAX_PATHS; length += 1) {
    const longer: Path[] = [];
    for (const path of open) {
      const tokenIn = path.at(-1)?.tokenOut ?? search.from;
      const steps = (tokenOut: Address) => poolsOf(tokenIn, tokenOut).map((state) => ({ state, tokenIn, tokenOut }));
      for (const hop of steps(search.to)) found.push([...path, hop]);
      if (length === search.maxHops) continue;
      const met = new Set([search.from, search.to, ...path.map((hop) => hop.tokenOut)]);
      for (const token of search.via) {
        if (!met.has(token)) longer.push(...steps(token).map((hop) => [...path, hop]));
      }
    }
    open = longer.slice(0, MAX_PATHS);
  }
  return found.slice(0, MAX_PATHS);
}

/** The pairs of tokens that {@link findPaths} asks for. */
export function pairsToRead(search: { from: Address; to: Address; via: readonly Address[]; maxHops: number }) {
  const between = search.via.filter((token) => token !== search.from && token !== search.to);
  const pairs: [Address, Address][] = [[search.from, search.to]];
  if (search.maxHops < 2) return pairs;
  for (const token of between) pairs.push([search.from, token], [token, search.to]);
  if (search.maxHops < 3) return pairs;
  for (const [index, token] of between.entries()) {
    for (const other of between.slice(index + 1)) pairs.push([token, other]);
  }
  return pairs;
}
