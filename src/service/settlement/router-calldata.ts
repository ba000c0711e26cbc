import { addressWord, bytesWords, callData, intWord, splitWords, uintWord } from "../../chain/at-block/words.ts";
import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";
import { kindOf } from "../pools/kinds.ts";
import type { RouterMaker, Splits } from "../pools/pool.ts";
import { legsOf } from "../routing/legs.ts";
import type { Hop } from "../routing/plan.ts";
import type { SwapOrder } from "./order.ts";
import { behind, callsWords, type LegForm, packedPath, swapCalls } from "./router-words.ts";
import { encodeSlipstreamSwap } from "./slipstream-calldata.ts";
import { encodeSolidlySwap } from "./solidly-calldata.ts";

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
} as const satisfies Readonly<Record<string, Hex>>;

/** Stands for the router itself as the recipient of a leg. */
const THE_ROUTER = toAddress("0x0000000000000000000000000000000000000002");

/** Recipients that the router takes for the caller and for itself: nobody else could be meant by them. */
export const ROUTER_SENTINELS: readonly Address[] = [
  toAddress("0x0000000000000000000000000000000000000001"),
  THE_ROUTER,
];

/**
 * Calldata of a swap through a public router, in the form of the one that trades with its pools.
 * @param hops one leg after the other, all through pools of one router
 */
export function encodeRouterSwap(order: SwapOrder, hops: readonly Hop[]): Hex {
  const makers = new Set(hops.map(({ pool }) => kindOf(pool).router?.maker));
  const [maker] = makers;
  if (maker === undefined || makers.size > 1)
    throw new Error(`no public router takes pools of ${[...makers].join(" and ")} in one swap`);
  return ENCODE[maker](order, hops);
}

/** Calldata of a swap through Uniswap's router, and PancakeSwap's. */
export function encodeSwapRouter02(order: SwapOrder, hops: readonly Hop[]): Hex {
  const calls = callsWords(swapCalls(order, legsOf(hops), SWAP_ROUTER_02));
  return callData(SELECTOR.multicall, uintWord(order.deadline, 256), behind(2), ...calls);
}

/**
 * What a swap through a public router pays, by what it answers: each of its calls has an answer, and those of the legs come
 * first, each with what it pays. Solidly's router answers nothing.
 * @returns undefined where it is no answer of such a router
 */
export function readRouterAnswer(answer: Hex, hops: readonly Hop[]): bigint | "not said" | undefined {
  if (hops.some(({ pool }) => kindOf(pool).router?.maker === "solidly"))
    return answer === "0x" ? "not said" : undefined;
  const [arrayAt, count = 0n, ...rest] = splitWords(answer);
  const legs = legsOf(hops).length;
  if (arrayAt !== WORD_BYTES || count < legs) return undefined;
  let paid = 0n;
  for (const at of rest.slice(0, legs)) {
    const [bytes, amount] = rest.slice(Number(at / WORD_BYTES));
    if (bytes !== WORD_BYTES || amount === undefined) return undefined;
    paid += amount;
  }
  return paid;
}

const WORD_BYTES = 32n;

const ENCODE: Readonly<Record<RouterMaker, typeof encodeSwapRouter02>> = {
  uniswap: encodeSwapRouter02,
  pancakeswap: encodeSwapRouter02,
  slipstream: encodeSlipstreamSwap,
  solidly: encodeSolidlySwap,
};

/** What each router takes in several legs: `tokens` where it gives all coins back that are left after a leg. */
export const SPLITS: Readonly<Record<RouterMaker, Splits>> = {
  uniswap: "all",
  pancakeswap: "all",
  slipstream: "tokens",
  solidly: "nothing",
};

const SWAP_ROUTER_02: LegForm = {
  custody: THE_ROUTER,
  legCall(leg, { recipient, minimum }) {
    const [first, ...others] = leg;
    const { tokenIn, tokenOut, pool } = first;
    const amounts = [uintWord(first.amountIn, 256), uintWord(minimum, 256)];
    if (kindOf(pool).router?.form === "v2") {
      const tokens = [tokenIn, ...leg.map((hop) => hop.tokenOut)].map(addressWord);
      const path = [uintWord(tokens.length, 256), ...tokens];
      return callData(SELECTOR.swapExactTokensForTokens, ...amounts, behind(4), addressWord(recipient), ...path);
    }
    if (others.length === 0) {
      const pair = [addressWord(tokenIn), addressWord(tokenOut), uintWord(pool.feePips, 24)];
      return callData(SELECTOR.exactInputSingle, ...pair, addressWord(recipient), ...amounts, intWord(0));
    }
    const path = bytesWords(packedPath(leg, (hop) => hop.pool.feePips));
    return callData(SELECTOR.exactInput, behind(1), behind(4), addressWord(recipient), ...amounts, ...path);
  },
};
