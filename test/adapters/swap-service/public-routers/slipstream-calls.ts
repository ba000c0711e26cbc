import { Interface } from "ethers";
import type { Address, Hex } from "../../../../src/domain/money/address.ts";
import { NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
import { DAI, DEADLINE, ME, USDC, WETH } from "./router-calls.ts";

/**
 * Every function of Slipstream's SwapRouter, by which everything here is encoded. Source: velodrome-finance/slipstream@193a6b85
 * contracts/periphery/SwapRouter.sol, with what it inherits.
 */
export const FUNCTIONS = new Interface([
  "function WETH9() view returns (address)",
  "function exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum))",
  "function exactInputSingle((address tokenIn, address tokenOut, int24 tickSpacing, address recipient, uint256 deadline," +
    " uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96))",
  "function exactOutput((bytes path, address recipient, uint256 deadline, uint256 amountOut, uint256 amountInMaximum))",
  "function exactOutputSingle((address tokenIn, address tokenOut, int24 tickSpacing, address recipient, uint256 deadline," +
    " uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96))",
  "function factory() view returns (address)",
  "function multicall(bytes[] data)",
  "function refundETH()",
  "function selfPermit(address token, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function selfPermitAllowed(address token, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s)",
  "function selfPermitAllowedIfNecessary(address token, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s)",
  "function selfPermitIfNecessary(address token, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function sweepToken(address token, uint256 amountMinimum, address recipient)",
  "function sweepTokenWithFee(address token, uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient)",
  "function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes data)",
  "function unwrapWETH9(uint256 amountMinimum, address recipient)",
  "function unwrapWETH9WithFee(uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient)",
]);

export const slip = (name: string, ...values: readonly unknown[]): Hex =>
  FUNCTIONS.encodeFunctionData(name, values) as Hex;

/** Whom a leg pays, how much at least, of how much, until when. */
interface Bound {
  recipient: Address;
  deadline: bigint;
  amountIn: bigint;
  minimum: bigint;
}

interface Single extends Bound {
  tokenIn: Address;
  tokenOut: Address;
  spacing: number;
  limit: bigint;
}

const BOUND: Bound = { recipient: ME, deadline: DEADLINE, amountIn: 100n, minimum: 90n };
/** The router takes nobody for itself. */
export const kept = { recipient: NATIVE_TOKEN, minimum: 0n };

export function one(changes: Partial<Single> = {}): Hex {
  const single: Single = { tokenIn: USDC, tokenOut: DAI, spacing: 100, limit: 0n, ...BOUND, ...changes };
  const { tokenIn, tokenOut, spacing, recipient, deadline, amountIn, minimum, limit } = single;
  return slip("exactInputSingle", [tokenIn, tokenOut, spacing, recipient, deadline, amountIn, minimum, limit]);
}

export function several(path: Hex, changes: Partial<Bound> = {}): Hex {
  const { recipient, deadline, amountIn, minimum } = { ...BOUND, ...changes };
  return slip("exactInput", [path, recipient, deadline, amountIn, minimum]);
}

export const swept = (token: Address = DAI, minimum = 180n, recipient: Address = ME): Hex =>
  slip("sweepToken", token, minimum, recipient);
export const unwrapped = (minimum = 180n, recipient: Address = ME): Hex => slip("unwrapWETH9", minimum, recipient);
export const refunded = slip("refundETH");
export const all = (...calls: readonly Hex[]): Hex => slip("multicall", calls);
/** A leg that brings the wrapped coin to the router. */
export const coinsKept = (): Hex => one({ ...kept, tokenOut: WETH });
