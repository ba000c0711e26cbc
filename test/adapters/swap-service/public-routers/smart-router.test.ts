import { Interface } from "ethers";
import { describe, expect, it, test } from "vitest";
import type { Hex } from "../../../../src/domain/money/address.ts";
import { decode } from "./read-router-call.ts";
import { custody, DAI, ME, multicall, refund, single, sweep, THIEF, USDC, unwrap, v2 } from "./router-calls.ts";

/**
 * Every function of PancakeSwap's SmartRouter. Source: pancakeswap/pancake-v3-contracts@5cc479f0 projects/router/contracts,
 * with those of v3-periphery, as its compiler lists them.
 */
const FUNCTIONS = new Interface([
  "function approveMax(address)",
  "function approveMaxMinusOne(address)",
  "function approveZeroThenMax(address)",
  "function approveZeroThenMaxMinusOne(address)",
  "function callPositionManager(bytes)",
  "function checkOracleSlippage(bytes,uint24,uint32)",
  "function checkOracleSlippage(bytes[],uint128[],uint24,uint32)",
  "function deployer()",
  "function exactInput((bytes,address,uint256,uint256))",
  "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
  "function exactInputStableSwap(address[],uint256[],uint256,uint256,address)",
  "function exactOutput((bytes,address,uint256,uint256))",
  "function exactOutputSingle((address,address,uint24,address,uint256,uint256,uint160))",
  "function exactOutputStableSwap(address[],uint256[],uint256,uint256,address)",
  "function factory()",
  "function factoryV2()",
  "function getApprovalType(address,uint256)",
  "function increaseLiquidity((address,address,uint256,uint256,uint256))",
  "function mint((address,address,uint24,int24,int24,uint256,uint256,address))",
  "function multicall(bytes[])",
  "function multicall(bytes32,bytes[])",
  "function multicall(uint256,bytes[])",
  "function owner()",
  "function pancakeV3SwapCallback(int256,int256,bytes)",
  "function positionManager()",
  "function pull(address,uint256)",
  "function refundETH()",
  "function renounceOwnership()",
  "function selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)",
  "function selfPermitAllowed(address,uint256,uint256,uint8,bytes32,bytes32)",
  "function selfPermitAllowedIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)",
  "function selfPermitIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)",
  "function setStableSwap(address,address)",
  "function stableSwapFactory()",
  "function stableSwapInfo()",
  "function swapExactTokensForTokens(uint256,uint256,address[],address)",
  "function swapTokensForExactTokens(uint256,uint256,address[],address)",
  "function sweepToken(address,uint256,address)",
  "function sweepToken(address,uint256)",
  "function sweepTokenWithFee(address,uint256,address,uint256,address)",
  "function sweepTokenWithFee(address,uint256,uint256,address)",
  "function transferOwnership(address)",
  "function unwrapWETH9(uint256,address)",
  "function unwrapWETH9WithFee(uint256,address,uint256,address)",
  "function unwrapWETH9WithFee(uint256,uint256,address)",
  "function WETH9()",
  "function wrapETH(uint256)",
]);

/** What a swap is made of, as it is encoded by Uniswap's own interface. */
const PINNED_CALLS = [
  single(),
  v2([USDC, DAI]),
  sweep(),
  unwrap(),
  refund,
  multicall(),
  "0xb858183f",
  // The views by which a router is held against its network, which nobody sends.
].map((data) => data.slice(0, 10));

const all = FUNCTIONS.fragments.flatMap((fragment) => {
  const found = FUNCTIONS.getFunction(fragment.format("sighash").replace("function ", ""));
  return found === null ? [] : [{ name: found.format("sighash"), selector: found.selector as Hex }];
});

describe("PancakeSwap's SmartRouter", () => {
  test("has each call of a swap under the selector of Uniswap's SwapRouter02: one decoder reads both", () => {
    const selectors = all.map(({ selector }) => selector);
    expect(all).toHaveLength(47);
    for (const selector of PINNED_CALLS) expect(selectors).toContain(selector);
  });

  const others = all.filter(({ selector }) => !PINNED_CALLS.includes(selector));

  it.each(others)("$name is refused as a call of its own, and within a swap", ({ selector }) => {
    const words = [USDC, DAI, THIEF].map((address) => address.slice(2).padStart(64, "0")).join("");
    const inner: Hex = `${selector}${words}`;
    for (const data of [
      inner,
      multicall(inner),
      multicall(single(custody), inner, sweep()),
      multicall(single(), inner),
    ])
      expect(decode(data)).toEqual({ ok: false, problem: expect.stringMatching(/.{10}/) });
  });

  it("sells through stable pools nowhere, with whatever arguments", () => {
    const stable = FUNCTIONS.encodeFunctionData("exactInputStableSwap", [[USDC, DAI], [2n], 100n, 90n, ME]) as Hex;
    expect(decode(multicall(stable))).toMatchObject({ ok: false, problem: expect.stringContaining("0xb4554231") });
  });
});
