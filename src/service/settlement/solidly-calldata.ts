import { addressWord, callData, intWord, uintWord } from "../../chain/at-block/words.ts";
import { type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { kindOf } from "../pools/kinds.ts";
import { legsOf } from "../routing/legs.ts";
import type { Hop } from "../routing/plan.ts";
import type { SwapOrder } from "./order.ts";
import { behind } from "./router-words.ts";

/**
 * Selectors of Solidly's router: of its swaps those that compare the minimum with what the recipient has more at the end.
 * Each ends with `(address from, address to, bool stable, address factory)[] routes, address to, uint256 deadline`.
 */
const SELECTOR = {
  /** `swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, ...)` */
  tokensForTokens: "0x88cd821e",
  /** `swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, ...)` */
  coinsForTokens: "0x3da5acba",
  /** `swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, ...)` */
  tokensForCoins: "0x12bc3aca",
} as const satisfies Readonly<Record<string, Hex>>;

/**
 * Calldata of a swap through Solidly's router, which knows one leg only.
 * @param hops one after the other
 */
export function encodeSolidlySwap(order: SwapOrder, hops: readonly Hop[]): Hex {
  const { recipient, fromAsset, amountOutMin, deadline } = order;
  const [first] = hops;
  if (first === undefined || legsOf(hops).length > 1) throw new Error("Solidly's router takes one leg");
  const amounts = [uintWord(first.amountIn, 256), uintWord(amountOutMin, 256)];
  const head = fromAsset === NATIVE_TOKEN ? amounts.slice(1) : amounts;
  const routes = hops.flatMap(({ tokenIn, tokenOut, pool }) => [
    addressWord(tokenIn),
    addressWord(tokenOut),
    intWord(kindOf(pool).router?.isStable?.(pool) === true ? 1 : 0),
    // Nobody stands for the router's own factory, the only one whose pools are in its routes.
    addressWord(pool.factory ?? NATIVE_TOKEN),
  ]);
  const end = [addressWord(recipient), uintWord(deadline, 256), intWord(hops.length), ...routes];
  return callData(selectorOf(order), ...head, behind(head.length + 3), ...end);
}

function selectorOf({ fromAsset, toAsset }: SwapOrder): Hex {
  if (fromAsset === NATIVE_TOKEN) return SELECTOR.coinsForTokens;
  return toAsset === NATIVE_TOKEN ? SELECTOR.tokensForCoins : SELECTOR.tokensForTokens;
}
