import { oneContract } from "../../../../src/domain/guard/swap-contracts.ts";
import { type Address, type Hex, toAddress } from "../../../../src/domain/money/address.ts";
import { loadSwapRouter } from "../../../service/support/public-router.ts";

/** Uniswap's own interface of the router, by which everything here is encoded. */
const ABI = loadSwapRouter().abi;
export const address = (digits: string): Address => toAddress(`0x${digits.repeat(20)}`);
export const [ROUTER, WETH, USDC, DAI, ME, THIEF] = ["a0", "b0", "c0", "d0", "e0", "f0"].map(address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
export const CALLER = toAddress(`0x${"0".repeat(39)}1`);
export const CUSTODY = toAddress(`0x${"0".repeat(39)}2`);
export const DEADLINE = 1_800_000_000n;
const MULTICALL = "multicall(uint256,bytes[])";
const SWEEP = "sweepToken(address,uint256,address)";
const UNWRAP = "unwrapWETH9(uint256,address)";

export const PINNED = { chainId: 1, contracts: oneContract(ROUTER), wrappedNative: WETH };

export const call = (name: string, ...values: readonly unknown[]): Hex => ABI.encodeFunctionData(name, values) as Hex;

interface Single {
  tokenIn: Address;
  tokenOut: Address;
  recipient: Address;
  amountIn: bigint;
  minimum: bigint;
  limit: bigint;
  fee: number;
}

const SINGLE: Single = {
  ...{ tokenIn: USDC, tokenOut: DAI, recipient: ME, amountIn: 100n, minimum: 90n, limit: 0n, fee: 500 },
};

export function single(changes: Partial<Single> = {}): Hex {
  const { tokenIn, tokenOut, fee, recipient, amountIn, minimum, limit } = { ...SINGLE, ...changes };
  return call("exactInputSingle", [tokenIn, tokenOut, fee, recipient, amountIn, minimum, limit]);
}

export const pathOf = (...parts: readonly (Address | number)[]): Hex =>
  `0x${parts.map((part) => (typeof part === "number" ? part.toString(16).padStart(6, "0") : part.slice(2))).join("")}`;

export function v3(path: Hex, { recipient = ME, amountIn = 100n, minimum = 90n } = {}): Hex {
  return call("exactInput", [path, recipient, amountIn, minimum]);
}

export function v2(path: readonly Address[], { recipient = ME, amountIn = 100n, minimum = 90n } = {}): Hex {
  return call("swapExactTokensForTokens", amountIn, minimum, path, recipient);
}

export const custody = { recipient: CUSTODY, minimum: 0n };
export const sweep = (token: Address = DAI, minimum = 180n, recipient: Address = ME): Hex =>
  call(SWEEP, token, minimum, recipient);
export const unwrap = (minimum = 180n, recipient: Address = ME): Hex => call(UNWRAP, minimum, recipient);
export const refund = call("refundETH");
export const multicall = (...calls: readonly Hex[]): Hex => call(MULTICALL, DEADLINE, calls);
