import type { Address } from "../../domain/money/address.ts";
import { mulDivUp } from "../../domain/money/amount.ts";
import type { PoolDirectory } from "../pools/directory.ts";
import { POOL_KINDS } from "../pools/kinds.ts";
import { type PoolState, sortTokens } from "../pools/pool.ts";
import type { Snapshot } from "../pools/snapshots.ts";
import { bestPath, type GasRate, type Route } from "./best-path.ts";
import { findPaths, type Path, pairsToRead } from "./path.ts";

/** A trade between two ERC-20 tokens; the native token is asked for as its wrapped form. */
export interface Trade {
  readonly from: Address;
  readonly to: Address;
  readonly amountIn: bigint;
  /** names of the kinds of pools that may be used; undefined: all */
  readonly sources: ReadonlySet<string> | undefined;
}

export interface Router {
  /** The best route at this block, undefined when no path of pools can take the amount. */
  route(trade: Trade, snapshot: Snapshot): Promise<Route | undefined>;
  /** How much of a token is worth this much of the native token, rounded up; undefined when no pool tells. */
  worthOfNative(token: Address, nativeAmount: bigint, snapshot: Snapshot): Promise<bigint | undefined>;
}

export interface RouterOptions {
  readonly wrappedNative: Address;
  /** tokens a path may go through */
  readonly hubTokens: readonly Address[];
}

const MAX_HOPS = 2;

/** Reads of more ticks before a pool counts as exhausted; each reads twice as far as the one before. */
const MAX_LOADS = 8;

/** Gas of a typical route: what conversions between gas and tokens are made with, so that depth does not matter. */
const REFERENCE_GAS = 300_000n;

export function createRouter(options: RouterOptions, directory: PoolDirectory): Router {
  async function readPaths(
    trade: Pick<Trade, "from" | "to" | "sources">,
    snapshot: Snapshot,
  ): Promise<readonly Path[]> {
    const search = { from: trade.from, to: trade.to, via: options.hubTokens, maxHops: MAX_HOPS };
    const states = new Map<string, readonly PoolState[]>();
    await Promise.all(
      pairsToRead(search).map(async ([tokenA, tokenB]) => {
        const pools = await directory.poolsOf(tokenA, tokenB, snapshot.read);
        const allowed = pools.filter((pool) => trade.sources?.has(POOL_KINDS[pool.kind].source) ?? true);
        const loaded = await Promise.all(allowed.map((pool) => snapshot.state(pool)));
        const live = loaded.filter((state) => state !== undefined);
        states.set(sortTokens(tokenA, tokenB).join(), live);
      }),
    );
    return findPaths(search, (tokenA, tokenB) => states.get(sortTokens(tokenA, tokenB).join()) ?? []);
  }

  async function search(paths: readonly Path[], trade: Omit<Trade, "sources">, gasRate: GasRate | undefined) {
    let usable = paths;
    for (let round = 0; ; round += 1) {
      const best = bestPath(usable, trade, gasRate);
      if (best.kind === "found") return best.route;
      if (best.kind === "none") return undefined;
      if (round < MAX_LOADS) await Promise.all([...new Set(best.loads)].map((load) => load()));
      // What reaches further than that is no market any more: go on with the paths that can be quoted.
      else usable = usable.filter((path) => bestPath([path], trade, gasRate).kind === "found");
    }
  }

  /** Quotes how much of the token a small sale of the native token brings: prices gas without an oracle. */
  async function worthOfNative(token: Address, nativeAmount: bigint, snapshot: Snapshot): Promise<bigint | undefined> {
    const { wrappedNative } = options;
    if (token === wrappedNative) return nativeAmount;
    if (nativeAmount === 0n) return 0n;
    const buy = { from: wrappedNative, to: token, amountIn: nativeAmount };
    const bought = await search(await readPaths({ ...buy, sources: undefined }, snapshot), buy, undefined);
    if (bought === undefined) return undefined;
    // Selling that amount back shows what it really fetches, so that one odd pool cannot make gas look dear.
    const sell = { from: token, to: wrappedNative, amountIn: bought.amountOut };
    const sold = await search(await readPaths({ ...sell, sources: undefined }, snapshot), sell, undefined);
    return sold === undefined ? bought.amountOut : mulDivUp(bought.amountOut, nativeAmount, sold.amountOut);
  }

  return {
    worthOfNative,
    async route(trade, snapshot) {
      const reference = REFERENCE_GAS * snapshot.head.gasPrice;
      const [paths, gasAmount] = await Promise.all([
        readPaths(trade, snapshot),
        worthOfNative(trade.to, reference, snapshot),
      ]);
      const gasRate = gasAmount === undefined ? undefined : { amount: gasAmount, gas: REFERENCE_GAS };
      return search(paths, trade, gasRate);
    },
  };
}
