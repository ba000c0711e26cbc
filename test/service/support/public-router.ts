import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Interface } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import type { TestChain } from "./chain.ts";
import type { Market } from "./market.ts";

const ARTIFACT = "@uniswap/swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json";

/** Uniswap's own SwapRouter02, from its npm package. */
export function loadSwapRouter(): { readonly abi: Interface; readonly bytecode: Hex } {
  const path = createRequire(import.meta.url).resolve(ARTIFACT);
  const { abi, bytecode } = JSON.parse(readFileSync(path, "utf8"));
  return { abi: new Interface(abi), bytecode };
}

/** Deploys it over the factories of a market, as it stands on real networks. */
export async function deploySwapRouter(
  chain: TestChain,
  { protocols, weth }: Pick<Market, "protocols" | "weth">,
): Promise<Address> {
  const [v2, v3] = [1, 2].map((kind) => protocols.find((protocol) => protocol.kind === kind)?.factory ?? NATIVE_TOKEN);
  return chain.deploy(loadSwapRouter(), [v2, v3, NATIVE_TOKEN, weth]);
}
