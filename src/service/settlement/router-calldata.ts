import { addressWord, bytesWords, callData, intWord, uintWord } from "../../chain/at-block/words.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../domain/money/address.ts";
import { kindOf } from "../pools/kinds.ts";
import { legsOf } from "../routing/legs.ts";
import type { Hop } from "../routing/plan.ts";
import type { SwapOrder } from "./order.ts";

/** Selectors of Uniswap's SwapRouter02, which PancakeSwap's SmartRouter shares. */
const SELECTOR = {
  /** `multicall(uint256 deadline, bytes[] data)`: the only form with a deadline */
  multicall: "0x5ae401dc",
  /** `exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96))` */
  exactInputSingle: "0x04e45aaf",
  /** `exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum))` */
  exactInput: "0xb858183f",
  /** `swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)` */
  swapExactTokensForTokens: "0x472b43f3",
  /** `sweepToken(address token, uint256 amountMinimum, address recipient)` */
  sweepToken: "0xdf2ab5bb",
  /** `unwrapWETH9(uint256 amountMinimum, address recipient)` */
  unwrapWETH9: "0x49404b7c",
  /** `refundETH()` */
  refundETH: "0x12210e8a",
} as const satisfies Readonly<Record<string, Hex>>;

/** Stands for the router itself as the recipient of a leg. */
const THE_ROUTER = toAddress("0x0000000000000000000000000000000000000002");

/** Recipients that the router takes for the caller and for itself: nobody else could be meant by them. */
export const ROUTER_SENTINELS: readonly Address[] = [
  toAddress("0x0000000000000000000000000000000000000001"),
  THE_ROUTER,
];

const WORD_BYTES = 32;

/**
 * Calldata of a swap through a public router. One leg pays the recipient, and has the minimum; several bring what they
 * buy to the router, and the sweep at the end has it. Native coins are wrapped by the first hop that sells them; what a
 * dry pool leaves of them comes back to the sender.
 * @param hops one leg after the other
 */
export function encodeRouterSwap(order: SwapOrder, hops: readonly Hop[]): Hex {
  const { recipient, fromAsset, toAsset, amountOutMin } = order;
  const legs = legsOf(hops);
  const isDirect = legs.length === 1 && toAsset !== NATIVE_TOKEN;
  const to = isDirect ? { recipient, minimum: amountOutMin } : { recipient: THE_ROUTER, minimum: 0n };
  const calls = legs.map((leg) => legCall(leg, to));
  if (!isDirect) calls.push(sweepCall(order));
  if (fromAsset === NATIVE_TOKEN) calls.push(SELECTOR.refundETH);
  return multicall(order.deadline, calls);
}

interface Payee {
  readonly recipient: Address;
  readonly minimum: bigint;
}

function legCall(leg: readonly Hop[], { recipient, minimum }: Payee): Hex {
  const [first] = leg;
  if (first === undefined) throw new Error("a leg without hops cannot be encoded");
  const amounts = [uintWord(first.amountIn, 256), uintWord(minimum, 256)];
  if (kindOf(first.pool).router?.form === "v2") {
    const tokens = [first.tokenIn, ...leg.map(({ tokenOut }) => tokenOut)].map(addressWord);
    const path = [uintWord(tokens.length, 256), ...tokens];
    const head = [...amounts, intWord(4 * WORD_BYTES), addressWord(recipient)];
    return callData(SELECTOR.swapExactTokensForTokens, ...head, ...path);
  }
  if (leg.length === 1) {
    const { tokenIn, tokenOut, pool } = first;
    const pair = [addressWord(tokenIn), addressWord(tokenOut), uintWord(pool.feePips, 24)];
    return callData(SELECTOR.exactInputSingle, ...pair, addressWord(recipient), ...amounts, intWord(0));
  }
  const path = bytesWords(pathOf(first.tokenIn, leg));
  const tuple = [intWord(4 * WORD_BYTES), addressWord(recipient), ...amounts, ...path];
  return callData(SELECTOR.exactInput, intWord(WORD_BYTES), ...tuple);
}

/** Tokens with the fee of the pool between each two of them, packed. */
function pathOf(from: Address, leg: readonly Hop[]): Hex {
  const hops = leg.map(({ pool, tokenOut }) => pool.feePips.toString(16).padStart(6, "0") + tokenOut.slice(2));
  return `0x${from.slice(2)}${hops.join("")}`;
}

function sweepCall({ toAsset, amountOutMin, recipient }: SwapOrder): Hex {
  const payee = [uintWord(amountOutMin, 256), addressWord(recipient)];
  if (toAsset === NATIVE_TOKEN) return callData(SELECTOR.unwrapWETH9, ...payee);
  return callData(SELECTOR.sweepToken, addressWord(toAsset), ...payee);
}

function multicall(deadline: bigint, calls: readonly Hex[]): Hex {
  const bodies = calls.map(bytesWords);
  let at = calls.length * WORD_BYTES;
  const places = bodies.map((words) => {
    const place = uintWord(at, 256);
    at += words.length * WORD_BYTES;
    return place;
  });
  const head = [uintWord(deadline, 256), intWord(2 * WORD_BYTES), uintWord(calls.length, 256)];
  return callData(SELECTOR.multicall, ...head, ...places, ...bodies.flat());
}
