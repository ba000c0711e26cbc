import { type Address, type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { type NetworkOptions, spenderOf } from "../options.ts";
import type { Hop } from "../routing/plan.ts";
import { encodeSwap } from "./calldata.ts";
import { grossAmount, type SwapOrder } from "./order.ts";
import { encodeRouterSwap } from "./router-calldata.ts";

/** A swap that its owner sends himself, fees aside. */
export interface OwnSwap {
  readonly to: Address;
  readonly data: Hex;
  /** wei that are sent along */
  readonly value: bigint;
}

/** Calldata of a self-executed swap, as the network's settlement or its public router takes it. */
export function encodeOwnSwap(
  order: SwapOrder,
  hops: readonly Hop[],
  network: Pick<NetworkOptions, "settlement">,
): Hex {
  return network.settlement === undefined ? encodeRouterSwap(order, hops) : encodeSwap(order, hops);
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
  return { to, data: encodeOwnSwap(order, legs, network), value };
}
