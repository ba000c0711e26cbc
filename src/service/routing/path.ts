import type { Address } from "../../domain/money/address.ts";
import { sortTokens } from "../pools/pool.ts";
import type { Edge } from "./edge.ts";

/** Tokens one after the other, none twice. Which pool serves which part of the way is the search's to find. */
export type Path = readonly Edge[];

/** The marginal rate of a path from one of its edges on: no amount gets more. */
export function spotRate(path: readonly { readonly rate: number }[], first = 0): number {
  let rate = 1;
  for (let index = first; index < path.length; index += 1) rate *= (path[index] as { rate: number }).rate;
  return rate;
}

/** The most paths that one search tries. */
const MAX_PATHS = 2_000;

export interface PathSearch {
  readonly from: Address;
  readonly to: Address;
  /** tokens that a path may go through */
  readonly via: readonly Address[];
  readonly maxHops: number;
}

/** The pools from one token to another, undefined where there are none. */
type EdgeOf = (tokenIn: Address, tokenOut: Address) => Edge | undefined;

/** All simple paths between two tokens over the tokens in between, shortest first. */
export function findPaths(search: PathSearch, edgeOf: EdgeOf): readonly Path[] {
  const found: Path[] = [];
  let open: Path[] = [[]];
  for (let length = 1; length <= search.maxHops && found.length < MAX_PATHS; length += 1) {
    for (const path of open) {
      const last = edgeOf(endOf(path, search), search.to);
      if (last !== undefined) found.push([...path, last]);
    }
    open =
      length === search.maxHops ? [] : open.flatMap((path) => withOneMore(path, search, edgeOf)).slice(0, MAX_PATHS);
  }
  return found.slice(0, MAX_PATHS);
}

function endOf(path: Path, { from }: PathSearch): Address {
  return path.at(-1)?.tokenOut ?? from;
}

/** The path with one more edge, to each token in between that it has not met. */
function withOneMore(path: Path, search: PathSearch, edgeOf: EdgeOf): readonly Path[] {
  const met = new Set([search.from, search.to, ...path.map((edge) => edge.tokenOut)]);
  return search.via.flatMap((token) => {
    const edge = met.has(token) ? undefined : edgeOf(endOf(path, search), token);
    return edge === undefined ? [] : [[...path, edge]];
  });
}

/** The pairs of tokens that {@link findPaths} asks for, each once. */
export function pairsToRead({ from, to, via, maxHops }: PathSearch): readonly (readonly [Address, Address])[] {
  const between = [...new Set(via)].filter((token) => token !== from && token !== to);
  const pairs = [sortTokens(from, to)];
  if (maxHops < 2) return pairs;
  for (const token of between) pairs.push(sortTokens(from, token), sortTokens(token, to));
  if (maxHops < 3) return pairs;
  for (const [index, token] of between.entries()) {
    for (const other of between.slice(index + 1)) pairs.push(sortTokens(token, other));
  }
  return pairs;
}
