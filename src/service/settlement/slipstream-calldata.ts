import { addressWord, bytesWords, callData, intWord, uintWord } from "../../chain/at-block/words.ts";
import { type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { legsOf } from "../routing/legs.ts";
import type { Hop } from "../routing/plan.ts";
import type { SwapOrder } from "./order.ts";
import { behind, callsWords, type LegForm, packedPath, swapCalls } from "./router-words.ts";

/** Selectors of Slipstream's SwapRouter where they are not those of Uniswap's SwapRouter02. */
const SELECTOR = {
  /** `multicall(bytes[] data)`: the deadline is each leg's own */
  multicall: "0xac9650d8",
  /** `exactInputSingle((address tokenIn, address tokenOut, int24 tickSpacing, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96))` */
  exactInputSingle: "0xa026383e",
  /** `exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum))` */
  exactInput: "0xc04b8d59",
} as const satisfies Readonly<Record<string, Hex>>;

/**
 * Calldata of a swap through Slipstream's SwapRouter. Each leg has the deadline, and gives all native coins back that are
 * left then: what sells them is one leg.
 * @param hops one leg after the other
 */
export function encodeSlipstreamSwap(order: SwapOrder, hops: readonly Hop[]): Hex {
  const legs = legsOf(hops);
  if (order.fromAsset === NATIVE_TOKEN && legs.length > 1)
    throw new Error("native coins are sold through Slipstream's router in one leg");
  return callData(SELECTOR.multicall, behind(1), ...callsWords(swapCalls(order, legs, slipstreamForm(order))));
}

function slipstreamForm({ deadline }: SwapOrder): LegForm {
  return {
    custody: NATIVE_TOKEN,
    legCall(leg, { recipient, minimum }) {
      const [{ tokenIn, tokenOut, pool, amountIn }, ...others] = leg;
      const bound = [addressWord(recipient), ...[deadline, amountIn, minimum].map((value) => uintWord(value, 256))];
      if (others.length === 0) {
        const pair = [addressWord(tokenIn), addressWord(tokenOut), intWord(pool.tickSpacing)];
        return callData(SELECTOR.exactInputSingle, ...pair, ...bound, intWord(0));
      }
      const path = bytesWords(packedPath(leg, ({ pool: { tickSpacing } }) => tickSpacing));
      return callData(SELECTOR.exactInput, behind(1), behind(5), ...bound, ...path);
    },
  };
}
