import { type Address, type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { type NetworkOptions, spenderOf } from "../options.ts";
import type { Hop } from "../routing/plan.ts";
import { encodeSwap } from "./calldata.ts";
import { grossAmount, type SwapOrder } from "./order.ts";
import { encodeRouterSwap, encodeSwapRouter02 } from "./router-calldata.ts";

/** A swap that its owner sends himself, fees aside. */
export interface OwnSwap {
  readonly to: Address;
  readonly data: Hex;
  /** wei that are sent along */
  readonly value: bigint;
}

/** A way to swap, and the public router that takes it; undefined: none does. */
interface Way {
  readonly hops: readonly Hop[];
  readonly router?: Address | undefined;
}

/**
 * Calldata of a self-executed swap, as the network's settlement or the way's public router takes it. Of what nothing
 * settles, only the gas of such calldata is of use: it is that of Uniswap's router, whatever the pools are.
 */
export function encodeOwnSwap(
  order: SwapOrder,
  { hops, router }: Way,
  network: Pick<NetworkOptions, "settlement">,
): Hex {
  if (network.settlement !== undefined) return encodeSwap(order, hops);
  return router === undefined ? encodeSwapRouter02(order, hops) : encodeRouterSwap(order, hops);
}

/** Undefined where the network has neither a settlement nor a public router. */
export function ownSwap(
  order: SwapOrder,
  { legs, router }: { readonly legs: readonly Hop[]; readonly router: Address | undefined },
  network: NetworkOptions,
): OwnSwap | undefined {
  const to = spenderOf(network, router);
  if (to === undefined) return undefined;
  const value = order.fromAsset === NATIVE_TOKEN ? grossAmount(order) : 0n;
  return { to, data: encodeOwnSwap(order, { hops: legs, router }, network), value };
}
