import type { Address } from "../../domain/money/address.ts";
import { mulDivUp } from "../../domain/money/amount.ts";
import { expectedCost } from "../data-fees/data-fees.ts";
import type { PoolDirectory } from "../pools/directory.ts";
import { kindOf } from "../pools/kinds.ts";
import { type Pool, type PoolState, type RouterForm, type Splits, sortTokens } from "../pools/pool.ts";
import type { Snapshot } from "../pools/snapshots.ts";
import type { TimeLimit } from "../time-limit.ts";
import type { TransferChecks } from "../tokens/transfer-checks.ts";
import type { GasRate } from "./best-path.ts";
import type { Route, RouteTrade } from "./best-route.ts";
import { createEdge, type Edge } from "./edge.ts";
import { findPaths, type Path, type PathSearch, pairsToRead } from "./path.ts";
import { better, type Searcher, type SearchTerms } from "./searcher.ts";
import { SearchStoppedError } from "./time-slices.ts";

/** A trade between two ERC-20 tokens; the native token is asked for as its wrapped form. */
export interface Trade extends RouteTrade {
  /** names of the kinds of pools that may be used; undefined: all */
  readonly sources: ReadonlySet<string> | undefined;
  /** the coin itself is sold, which some routers take in one leg only; absent: a token, the wrapped one too */
  readonly sellsCoins?: boolean;
}

/** A public router as routes go through it: as legs, of which all hops are of one form. */
export interface PublicWay {
  readonly router: Address;
  /** how it takes a hop in a pool, undefined where it does not */
  formOf(pool: Pool): RouterForm | undefined;
  readonly splits: Splits;
}

export interface Router {
  /**
   * The best route at this block, undefined when no path of pools can take the amount. When the limit is over before
   * all was tried, the best that was found by then.
   * @throws SearchStoppedError when none was found by then, or too many others search
   */
  route(trade: Trade, snapshot: Snapshot, limit?: TimeLimit): Promise<Route | undefined>;
  /** How much of a token is worth this much of the native token, rounded up; undefined when no pool has both. */
  worthOfNative(token: Address, nativeAmount: bigint, snapshot: Snapshot): Promise<bigint | undefined>;
}

export interface RouterOptions {
  readonly wrappedNative: Address;
  /** tokens a path may go through */
  readonly hubTokens: readonly Address[];
  /**
   * The public routers as far as they are known, of which each route goes through one. Absent: the settlement of ours, which
   * takes any hops in any order.
   */
  readonly ways?: (() => readonly PublicWay[]) | undefined;
  /** whether routes may use a pool at all; absent: any */
  readonly takes?: ((pool: Pool) => boolean) | undefined;
}

export interface RouterDependencies {
  readonly directory: PoolDirectory;
  readonly findRoute: Searcher;
  /** leaves hub tokens out whose transfers are not exact: what was quoted would not arrive */
  readonly transfers?: TransferChecks;
}

const MAX_HOPS = 3;

/** A typical route: what conversions between gas and tokens are made with, so that depth does not matter. */
const REFERENCE_GAS = 300_000n;
const REFERENCE_HOPS = 3;

/**
 * Wei that the gas of a typical route costs on top of a transaction, its data included: that grows by about as much with
 * every hop, so it is counted as a part of the price of gas.
 */
function referenceCost({ head, dataFees }: Snapshot): bigint {
  const cost = (hops: number, gas: bigint) =>
    expectedCost({ gasless: false, hops, gas }, { gasPrice: head.gasPrice, dataFees });
  return cost(1 + REFERENCE_HOPS, REFERENCE_GAS) - cost(1, 0n);
}

/** Paths that one route may combine, and the public router that it goes through then. */
interface PathSet {
  readonly paths: readonly Path[];
  readonly way: PublicWay | undefined;
}

/** What was worked out at one block: paths by what they lead from and to, and what gas costs, by token. */
interface Worked {
  readonly paths: Map<string, Promise<readonly PathSet[]>>;
  readonly gasRates: Map<Address, Promise<GasRate | undefined>>;
}

/** A block may be the newest for hours, while strangers ask for pair after pair. */
const MAX_OF_A_BLOCK = 2_000;

/** Remembers an answer; a failure is forgotten, so that the next one asks again. */
function once<K, V>(known: Map<K, Promise<V>>, key: K, ask: () => Promise<V>): Promise<V> {
  const before = known.get(key);
  if (before !== undefined) return before;
  const answer = ask();
  if (known.size >= MAX_OF_A_BLOCK) known.clear();
  known.set(key, answer);
  answer.catch(() => known.delete(key));
  return answer;
}

async function readStates(
  search: { tokenA: Address; tokenB: Address; sources: Trade["sources"]; takes: RouterOptions["takes"] },
  { directory, snapshot }: { directory: PoolDirectory; snapshot: Snapshot },
): Promise<readonly PoolState[]> {
  const { sources, takes } = search;
  const pools = await directory.poolsOf(search.tokenA, search.tokenB, snapshot.read);
  const allowed = pools.filter((pool) => (takes?.(pool) ?? true) && (sources?.has(kindOf(pool).source) ?? true));
  const loaded = await Promise.all(allowed.map((pool) => snapshot.state(pool)));
  return loaded.filter((state) => state !== undefined);
}

/** The hub tokens that a path may really go through: whose transfers are exact, as far as is known. */
async function exactHubs(
  { from, to, via }: { from: Address; to: Address; via: readonly Address[] },
  { transfers, snapshot }: { transfers: TransferChecks | undefined; snapshot: Snapshot },
): Promise<readonly Address[]> {
  if (transfers === undefined) return via;
  const between = via.filter((token) => token !== from && token !== to);
  const verdicts = await Promise.all(between.map((token) => transfers.verdict(token, [from, to], snapshot)));
  return between.filter((_, index) => verdicts[index]?.kind !== "inexact");
}

interface PairStates {
  readonly tokenA: Address;
  readonly tokenB: Address;
  readonly states: readonly PoolState[];
}

/**
 * The paths over these pools. A public router passes what a hop brings on to hops of the same form only, so there the
 * pools between other tokens are of one form in each set; the two tokens' own pools end a leg, and are in all of them.
 */
function pathSets(
  pairs: readonly PairStates[],
  search: PathSearch,
  ways: readonly PublicWay[] | undefined,
): readonly PathSet[] {
  if (ways === undefined) return [{ paths: pathsOver(pairs, search), way: undefined }];
  return ways.flatMap((way) => setsOf(pairs, search, way));
}

function setsOf(pairs: readonly PairStates[], search: PathSearch, way: PublicWay): readonly PathSet[] {
  const [low, high] = sortTokens(search.from, search.to);
  const sets = FORMS.map((form) => {
    const own = pairs.map(({ tokenA, tokenB, states }) => {
      const isDirect = tokenA === low && tokenB === high;
      const isOfUse = ({ pool }: PoolState) => (isDirect ? way.formOf(pool) !== undefined : way.formOf(pool) === form);
      return { tokenA, tokenB, states: states.filter(isOfUse) };
    });
    return pathsOver(
      own.filter(({ states }) => states.length > 0),
      search,
    );
  });
  const further = sets.filter((paths) => paths.some((path) => path.length > 1));
  return (further.length > 0 ? further : sets.slice(0, 1)).map((paths) => ({ paths, way }));
}

const FORMS: readonly RouterForm[] = ["v3", "v2"];

function pathsOver(pairs: readonly PairStates[], search: PathSearch): readonly Path[] {
  const edges = new Map<string, Edge>();
  for (const { tokenA, tokenB, states } of pairs) {
    edges.set(tokenA + tokenB, createEdge(tokenA, tokenB, states));
    edges.set(tokenB + tokenA, createEdge(tokenB, tokenA, states));
  }
  return findPaths(search, (tokenIn, tokenOut) => edges.get(tokenIn + tokenOut));
}

/** The best route over any of the sets; where some could not be searched in time, over the others. */
async function bestOfSets(
  sets: readonly PathSet[],
  find: (set: PathSet) => Promise<Route | undefined>,
  { gasRate }: Pick<SearchTerms, "gasRate">,
): Promise<Route | undefined> {
  let best: Route | undefined;
  let stopped: unknown;
  for (const set of sets) {
    try {
      best = better(best, await find(set), gasRate);
    } catch (error) {
      if (!(error instanceof SearchStoppedError)) throw error;
      stopped = error;
    }
  }
  if (best === undefined && stopped !== undefined) throw stopped;
  return best;
}

export function createRouter(options: RouterOptions, dependencies: RouterDependencies): Router {
  const { directory, findRoute, transfers } = dependencies;
  const worked = new WeakMap<Snapshot, Worked>();
  const workedAt = (snapshot: Snapshot): Worked => {
    const known = worked.get(snapshot) ?? { paths: new Map(), gasRates: new Map() };
    worked.set(snapshot, known);
    return known;
  };

  async function readPaths({ from, to, sources }: Omit<Trade, "amountIn">, snapshot: Snapshot) {
    const search = { from, to, via: options.hubTokens, maxHops: MAX_HOPS };
    const pairs: PairStates[] = [];
    const [via] = await Promise.all([
      exactHubs(search, { transfers, snapshot }),
      ...pairsToRead(search).map(async ([tokenA, tokenB]) => {
        const states = await readStates({ tokenA, tokenB, sources, takes: options.takes }, { directory, snapshot });
        if (states.length > 0) pairs.push({ tokenA, tokenB, states });
      }),
    ]);
    return pathSets(pairs, { ...search, via }, options.ways?.());
  }

  function pathsOf(trade: Omit<Trade, "amountIn">, snapshot: Snapshot): Promise<readonly PathSet[]> {
    const sources = trade.sources === undefined ? "" : [...trade.sources].sort().join();
    return once(workedAt(snapshot).paths, `${trade.from}${trade.to}${sources}`, () => readPaths(trade, snapshot));
  }

  /** The best route, of whichever router. */
  async function search(trade: Trade, snapshot: Snapshot, terms: Omit<SearchTerms, "inLegs" | "inOneLeg">) {
    const sets = await pathsOf(trade, snapshot);
    const find = async ({ paths, way }: PathSet): Promise<Route | undefined> => {
      if (way === undefined) return findRoute(paths, trade, terms);
      const inOneLeg = way.splits === "nothing" || (way.splits === "tokens" && trade.sellsCoins === true);
      const route = await findRoute(paths, trade, { ...terms, inLegs: true, inOneLeg });
      return route && { ...route, router: way.router };
    };
    return bestOfSets(sets, find, terms);
  }

  /** Quotes how much of the token a small sale of the native token brings: prices gas without an oracle. */
  async function worthOfNative(token: Address, nativeAmount: bigint, snapshot: Snapshot): Promise<bigint | undefined> {
    const { wrappedNative } = options;
    if (token === wrappedNative) return nativeAmount;
    if (nativeAmount === 0n) return 0n;
    const buy = { from: wrappedNative, to: token, amountIn: nativeAmount, sources: undefined };
    const bought = await search(buy, snapshot, { gasRate: undefined });
    if (bought === undefined) return undefined;
    // Selling that amount back shows what it really fetches, so that one odd pool cannot make gas look dear.
    const sell = { from: token, to: wrappedNative, amountIn: bought.amountOut, sources: undefined };
    const sold = await search(sell, snapshot, { gasRate: undefined });
    return sold === undefined ? bought.amountOut : mulDivUp(bought.amountOut, nativeAmount, sold.amountOut);
  }

  function gasRateOf(token: Address, snapshot: Snapshot): Promise<GasRate | undefined> {
    return once(workedAt(snapshot).gasRates, token, async () => {
      const amount = await worthOfNative(token, referenceCost(snapshot), snapshot);
      return amount === undefined ? undefined : { amount, gas: REFERENCE_GAS };
    });
  }

  return {
    worthOfNative,
    async route(trade, snapshot, limit) {
      const [gasRate] = await Promise.all([gasRateOf(trade.to, snapshot), pathsOf(trade, snapshot)]);
      return search(trade, snapshot, { gasRate, limit });
    },
  };
}
