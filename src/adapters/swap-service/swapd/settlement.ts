import { Interface } from "ethers";
import type { Hex } from "../../../domain/money/address.ts";

const ORDER =
  "(address recipient, address fromAsset, address toAsset, uint256 deadline, uint256 amountOutMin, uint256 swapFee," +
  " uint256 amountIn, uint256 nonce, address affiliate, uint256 affiliateFee) order";
const ROUTE = "(uint8 protocol, address pool, address tokenIn, address tokenOut, uint24 fee, uint64 portion)[] route";

/** The parts of the settlement contract's interface that are used here. */
export const SETTLEMENT = new Interface([
  `function swap(${ORDER}, ${ROUTE}) payable returns (uint256 amountOut)`,
  "function isNonceUsed(address owner, uint256 nonce) view returns (bool)",
  "event Swapped(address indexed owner, uint256 indexed nonce, address indexed sender, address recipient," +
    " address fromAsset, address toAsset, uint256 amountIn, uint256 amountOut, uint256 swapFee, address affiliate," +
    " uint256 affiliateFee)",
  "event NonceCancelled(address indexed owner, uint256 indexed nonce)",
]);

/** @throws Error when the contract has no such function */
export function selectorOf(name: string): Hex {
  const found = SETTLEMENT.getFunction(name);
  if (found === null) throw new Error(`the settlement contract has no function ${name}`);
  return found.selector as Hex;
}

/** @throws Error when the contract has no such event */
export function topicOf(name: string): Hex {
  const found = SETTLEMENT.getEvent(name);
  if (found === null) throw new Error(`the settlement contract has no event ${name}`);
  return found.topicHash as Hex;
}
