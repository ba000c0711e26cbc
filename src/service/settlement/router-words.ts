import { addressWord, bytesWords, callData, intWord, uintWord, type WordText } from "../../chain/at-block/words.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { Hop } from "../routing/plan.ts";
import type { SwapOrder } from "./order.ts";

/** Selectors that all public routers share: they come from the same periphery. */
const SELECTOR = {
  /** `sweepToken(address token, uint256 amountMinimum, address recipient)` */
  sweepToken: "0xdf2ab5bb",
  /** `unwrapWETH9(uint256 amountMinimum, address recipient)` */
  unwrapWETH9: "0x49404b7c",
  /** `refundETH()` */
  refundETH: "0x12210e8a",
} as const satisfies Readonly<Record<string, Hex>>;

const WORD_BYTES = 32;

/** Whom a leg pays, and how much of what it buys at least. */
interface Payee {
  readonly recipient: Address;
  readonly minimum: bigint;
}

/** How one router takes a leg. */
export interface LegForm {
  /** whom the router takes for itself as the recipient of a leg */
  readonly custody: Address;
  legCall(leg: readonly [Hop, ...Hop[]], payee: Payee): Hex;
}

/**
 * The calls of a swap in their order. One leg pays the recipient, and has the minimum; several, or one that buys native
 * coins, bring what they buy to the router, and the sweep at the end has it. Native coins are wrapped by the first hop
 * that sells them; what a dry pool leaves of them comes back to the sender.
 */
export function swapCalls(
  order: SwapOrder,
  legs: readonly (readonly Hop[])[],
  { custody, legCall }: LegForm,
): readonly Hex[] {
  const { recipient, fromAsset, toAsset, amountOutMin } = order;
  const isDirect = legs.length === 1 && toAsset !== NATIVE_TOKEN;
  const payee = isDirect ? { recipient, minimum: amountOutMin } : { recipient: custody, minimum: 0n };
  const calls = legs.map(([first, ...others]) => {
    if (first === undefined) throw new Error("a leg without hops cannot be encoded");
    return legCall([first, ...others], payee);
  });
  if (!isDirect) calls.push(sweepCall(order));
  if (fromAsset === NATIVE_TOKEN) calls.push(SELECTOR.refundETH);
  return calls;
}

function sweepCall({ toAsset, amountOutMin, recipient }: SwapOrder): Hex {
  const payee = [uintWord(amountOutMin, 256), addressWord(recipient)];
  if (toAsset === NATIVE_TOKEN) return callData(SELECTOR.unwrapWETH9, ...payee);
  return callData(SELECTOR.sweepToken, addressWord(toAsset), ...payee);
}

/** Tokens with a number of three bytes between each two of them, packed. */
export function packedPath([first, ...others]: readonly [Hop, ...Hop[]], numberOf: (hop: Hop) => number): Hex {
  const hops = [first, ...others].map((hop) => {
    return numberOf(hop).toString(16).padStart(6, "0") + hop.tokenOut.slice(2);
  });
  return `0x${first.tokenIn.slice(2)}${hops.join("")}`;
}

/** Where the last value of a head of so many words begins. */
export function behind(words: number): WordText {
  return intWord(words * WORD_BYTES);
}

/** The words of an array of calls. */
export function callsWords(calls: readonly Hex[]): readonly WordText[] {
  const bodies = calls.map(bytesWords);
  let at = calls.length * WORD_BYTES;
  const places = bodies.map((words) => {
    const place = uintWord(at, 256);
    at += words.length * WORD_BYTES;
    return place;
  });
  return [uintWord(calls.length, 256), ...places, ...bodies.flat()];
}
