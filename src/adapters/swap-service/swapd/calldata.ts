import type { DecodedSwap, Decoding, ProposedTransaction, RouteLeg } from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../../../domain/money/address.ts";
import { mulDivDown } from "../../../domain/money/amount.ts";
import { readPinnedCall } from "../pinned-call.ts";
import { SETTLEMENT } from "./settlement.ts";

/**
 * The order as its owner's own call: without the relayer's fee, and without a nonce, which only signatures have. The
 * affiliate keeps its share: its fee itself could be more than the contract allows of the smaller gross amount.
 */
export function encodeOwnSwap(swap: DecodedSwap, route: readonly RouteLeg[]): Hex {
  const { recipient, fromAsset, toAsset, deadline, amountOutMin, amountIn, swapFee } = swap;
  const affiliate = swap.affiliate ?? { address: NATIVE_TOKEN, fee: 0n };
  const sold = amountIn + swapFee;
  const affiliateFee = sold === 0n ? 0n : mulDivDown(affiliate.fee, amountIn, sold);
  const order = [recipient, fromAsset, toAsset, deadline, amountOutMin, 0n, amountIn, 0n];
  const legs = route.map(({ protocol, pool, tokenIn, tokenOut, fee, portion }) => [
    ...[protocol, pool, tokenIn, tokenOut, fee, portion],
  ]);
  return SETTLEMENT.encodeFunctionData("swap", [[...order, affiliate.address, affiliateFee], legs]) as Hex;
}

/** Reads a call of `swap(order, route)`. The route itself is bound by simulation and by `amountOutMin`. */
export function decodeSwapCall(transaction: ProposedTransaction): Decoding {
  const call = readPinnedCall(SETTLEMENT, "swap", transaction.data);
  return call.ok ? readOrder(call.args[0].toObject(), transaction) : call;
}

function readOrder(order: Record<string, unknown>, transaction: ProposedTransaction): Decoding {
  const number = (name: string): bigint => order[name] as bigint;
  const address = (name: string): Address => parseAddress(order[name]) ?? NATIVE_TOKEN;
  if (number("nonce") !== 0n) return { ok: false, problem: `a self-executed swap has nonce 0, not ${number("nonce")}` };
  const affiliate = { address: address("affiliate"), fee: number("affiliateFee") };
  const swap: DecodedSwap = {
    contracts: oneContract(transaction.to),
    sender: undefined,
    recipient: address("recipient"),
    fromAsset: address("fromAsset"),
    toAsset: address("toAsset"),
    deadline: number("deadline"),
    amountOutMin: number("amountOutMin"),
    swapFee: number("swapFee"),
    amountIn: number("amountIn"),
    nonce: undefined,
    affiliate: affiliate.address === NATIVE_TOKEN && affiliate.fee === 0n ? undefined : affiliate,
    permitValue: undefined,
  };
  return { ok: true, swap };
}
