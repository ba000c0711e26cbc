import { RpcError } from "../../chain/json-rpc.ts";
import type { Clock } from "../../ports/clock.ts";
import { UnansweredPoolError } from "../pools/unanswered-pool.ts";
import { createTimeLimit, type TimeLimit } from "../time-limit.ts";
import { type GasRate, gasCost } from "./best-path.ts";
import { type Route, type RouteSearch, type RouteTrade, searchRoute } from "./best-route.ts";
import type { Path } from "./path.ts";
import { SearchStoppedError, type TimeSlices } from "./time-slices.ts";

/** Reads of more ticks before a pool counts as exhausted; each reads twice as far as the one before. */
const MAX_LOADS = 8;

/** How long a search may last that no caller limits: those that callers share. */
const OWN_LIMIT_MS = 10_000;

export interface SearchTerms {
  readonly gasRate: GasRate | undefined;
  /** absent: the service's own */
  readonly limit?: TimeLimit | undefined;
  /** as {@link SearchOptions.inLegs} */
  readonly inLegs?: boolean;
  /** as {@link SearchOptions.inOneLeg} */
  readonly inOneLeg?: boolean;
}

/**
 * Searches for a route without delaying other work, and reads what is missing on the way.
 * What cannot be read is left out: then the pools as far as they were read decide.
 * @returns undefined when no path of pools can take the amount
 * @throws RpcError when none was found, and the node did not answer for more
 * @throws SearchStoppedError when the limit is over before any route was found, or too many others search
 */
export type Searcher = (paths: readonly Path[], trade: RouteTrade, terms: SearchTerms) => Promise<Route | undefined>;

/**
 * The route that brings more net of gas. A search that goes on after reads begins anew, and may be ended before it is back
 * where the one before it was.
 */
export function better(
  one: Route | undefined,
  other: Route | undefined,
  gasRate: GasRate | undefined,
): Route | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const netOf = ({ amountOut, gas }: Route) => amountOut - gasCost(gas, gasRate);
  return netOf(other) > netOf(one) ? other : one;
}

/** Reads what is missing. @returns why some of it cannot be read, of the node's reasons before the pools' */
async function loadAll(loads: readonly (() => Promise<void>)[]): Promise<Error | undefined> {
  const ends = await Promise.allSettled(loads.map((load) => load()));
  const reasons = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
  const unread = reasons.filter((reason) => reason instanceof RpcError || reason instanceof UnansweredPoolError);
  if (unread.length < reasons.length) throw reasons.find((reason) => !unread.some((one) => one === reason));
  return unread.find((reason) => reason instanceof RpcError) ?? unread[0];
}

/** No path of pools can take the amount, as far as they were read. */
function noWay(unread: Error | undefined): undefined {
  if (unread instanceof RpcError) throw unread;
  return undefined;
}

function tooLate(): never {
  throw new SearchStoppedError("QUOTE_TIMEOUT", "no route was found by then");
}

export function createSearcher({ slices, clock }: { slices: TimeSlices; clock: Clock }): Searcher {
  /** The search's end; undefined when the limit is over first. */
  async function whole(search: RouteSearch, limit: TimeLimit) {
    const done = await slices.take(search.steps, limit.part(1 / 2));
    if (done !== undefined || limit.isOver()) return done;
    // It may well not end in time. Before it goes on, any route is found.
    if (search.soFar() === undefined) await slices.take(search.quickSteps, limit);
    return slices.take(search.steps, limit);
  }

  return async (paths, trade, { gasRate, limit = createTimeLimit(OWN_LIMIT_MS, clock), ...form }) => {
    let soFar: Route | undefined;
    let unread: Error | undefined;
    for (let round = 0; ; round += 1) {
      // What reaches further than so many reads is no market any more: then the pools as far as they were read decide.
      const readsMore = round < MAX_LOADS && unread === undefined;
      const search = searchRoute(paths, trade, { gasRate, readsMore, budget: slices.budget, ...form });
      const best = (await whole(search, limit))?.value;
      if (best?.kind === "found") return best.route;
      if (best?.kind === "none") return noWay(unread);
      soFar = better(soFar, search.soFar(), gasRate);
      const loaded = best && (await limit.within(loadAll(best.loads)));
      if (loaded === undefined) return soFar ?? tooLate();
      unread = loaded.value;
    }
  };
}
