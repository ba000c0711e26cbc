import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { Pool } from "../pools/pool.ts";
import type { Route } from "../routing/best-route.ts";

/** Whether our executor computes a pool's address by the code of its factory's pools, which it then knows. */
export type IsComputed = (pool: Pool) => boolean;

/** How the hops that buy a swap's token deliver it. */
export interface Purchases {
  /** hops whose pools pay the recipient themselves */
  readonly direct: Route["hops"];
  /** whether some of it comes through the executor, which delivers it at the end */
  readonly isHeld: boolean;
}

/**
 * A pool whose code is known pays the recipient itself, unless he gets native tokens, or a hop of the route sells what
 * was bought: the executor decides it likewise.
 */
export function purchasesOf({ hops }: Pick<Route, "hops">, toAsset: Address, isComputed: IsComputed): Purchases {
  const bought = hops.at(-1)?.tokenOut;
  const buying = hops.filter(({ tokenOut }) => tokenOut === bought);
  const isSoldToo = hops.some(({ tokenIn }) => tokenIn === bought);
  if (toAsset === NATIVE_TOKEN || isSoldToo) return { direct: [], isHeld: true };
  const direct = buying.filter(({ pool }) => isComputed(pool));
  return { direct, isHeld: direct.length < buying.length };
}
