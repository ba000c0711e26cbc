import type { Address, Hex } from "../../domain/money/address.ts";
import type { Head } from "../at-block/head.ts";
import type { JsonRpc, RpcRequest } from "../json-rpc.ts";
import { toQuantity } from "../quantity.ts";
import type { StorageSlot } from "./storage-layouts.ts";

/** What a call is given of accounts instead of what the chain holds (the state overrides of `eth_call`). */
export type Overrides = Readonly<
  Record<Address, { readonly balance?: Hex; readonly stateDiff?: Readonly<Record<Hex, Hex>> }>
>;

/** One node at one block. */
export interface StorageNode {
  readonly host: string;
  /** the block as requests name it */
  readonly block: Hex;
  /** All requests together; what the node refuses stands in its place. @throws RpcError of kind `transport` */
  ask(requests: readonly RpcRequest[]): Promise<readonly unknown[]>;
}

/** The same for a bounded time, with the block's head. */
export interface NodeView extends StorageNode {
  readonly head: Head;
}

export function viewNode(rpc: JsonRpc, head: Head, timeoutMs: number): NodeView {
  const signal = AbortSignal.timeout(timeoutMs);
  return {
    host: rpc.host,
    head,
    block: toQuantity(head.number),
    ask: (requests) => rpc.batch(requests, signal),
  };
}

function toWord(value: bigint): Hex {
  return `0x${BigInt.asUintN(256, value).toString(16).padStart(64, "0")}`;
}

/** Plenty for a view, and too little for an answer of many megabytes. */
export const VIEW_GAS: Hex = "0xf4240";

/** A call of a view, as the chain is, or would be. */
export function viewRequest(call: { to: Address; data: Hex }, block: Hex, overrides?: Overrides): RpcRequest {
  const fields = { ...call, gas: VIEW_GAS };
  return { method: "eth_call", params: overrides === undefined ? [fields, block] : [fields, block, overrides] };
}

/** Overrides of single words, however many are of one contract. */
export function overrideSlots(words: readonly { readonly slot: StorageSlot; readonly value: bigint }[]): Overrides {
  const overrides: Record<Address, { stateDiff: Record<Hex, Hex> }> = {};
  for (const { slot, value } of words) {
    const own = overrides[slot.contract] ?? { stateDiff: {} };
    own.stateDiff[slot.key] = toWord(value);
    overrides[slot.contract] = own;
  }
  return overrides;
}
