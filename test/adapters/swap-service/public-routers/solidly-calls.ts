import { Interface } from "ethers";
import type { Address, Hex } from "../../../../src/domain/money/address.ts";
import { DAI, DEADLINE, ME, USDC, WETH } from "./router-calls.ts";

const WAY = "(address from, address to, bool stable, address factory)[] routes, address to, uint256 deadline";

/**
 * What Solidly's router does besides its views, by which everything here is encoded. Source: aerodrome-finance/contracts@a5fae2e8
 * contracts/Router.sol.
 */
export const FUNCTIONS = new Interface([
  `function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, ${WAY})`,
  `function swapExactETHForTokens(uint256 amountOutMin, ${WAY})`,
  `function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, ${WAY})`,
  "function UNSAFE_swapExactTokensForTokens(uint256[] amounts, (address from, address to, bool stable, address factory)[] routes," +
    " address to, uint256 deadline)",
  `function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, ${WAY})`,
  `function swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, ${WAY})`,
  `function swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, ${WAY})`,
  "function addLiquidity(address tokenA, address tokenB, bool stable, uint256 amountADesired, uint256 amountBDesired," +
    " uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)",
  "function addLiquidityETH(address token, bool stable, uint256 amountTokenDesired, uint256 amountTokenMin," +
    " uint256 amountETHMin, address to, uint256 deadline)",
  "function removeLiquidity(address tokenA, address tokenB, bool stable, uint256 liquidity, uint256 amountAMin," +
    " uint256 amountBMin, address to, uint256 deadline)",
  "function removeLiquidityETH(address token, bool stable, uint256 liquidity, uint256 amountTokenMin," +
    " uint256 amountETHMin, address to, uint256 deadline)",
  "function removeLiquidityETHSupportingFeeOnTransferTokens(address token, bool stable, uint256 liquidity," +
    " uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)",
]);

export type Hop = readonly [from: Address, to: Address, stable: boolean, factory: Address];

export const FACTORY = `0x${"fa".repeat(20)}` as Address;

export const hop = (from: Address, to: Address, stable = false, factory = FACTORY): Hop => [from, to, stable, factory];

export interface Sale {
  readonly amountIn: bigint;
  readonly minimum: bigint;
  readonly routes: readonly Hop[];
  readonly to: Address;
  readonly deadline: bigint;
}

const SALE: Sale = { amountIn: 100n, minimum: 90n, routes: [hop(USDC, DAI)], to: ME, deadline: DEADLINE };
const SUPPORTING = "SupportingFeeOnTransferTokens";

export const call = (name: string, ...values: readonly unknown[]): Hex =>
  FUNCTIONS.encodeFunctionData(name, values) as Hex;

export function tokens(changes: Partial<Sale> = {}, form = SUPPORTING): Hex {
  const { amountIn, minimum, routes, to, deadline } = { ...SALE, ...changes };
  return call(`swapExactTokensForTokens${form}`, amountIn, minimum, routes, to, deadline);
}

export function coinsSold(changes: Partial<Sale> = {}, form = SUPPORTING): Hex {
  const { minimum, routes, to, deadline } = { ...SALE, routes: [hop(WETH, DAI)], ...changes };
  return call(`swapExactETHForTokens${form}`, minimum, routes, to, deadline);
}

export function coinsBought(changes: Partial<Sale> = {}, form = SUPPORTING): Hex {
  const { amountIn, minimum, routes, to, deadline } = { ...SALE, routes: [hop(USDC, WETH)], ...changes };
  return call(`swapExactTokensForETH${form}`, amountIn, minimum, routes, to, deadline);
}
