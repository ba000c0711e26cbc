import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Interface, keccak256 } from "ethers";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import type { Contract } from "../../../src/sandbox/artifacts.ts";
import { pancakeswapV2 } from "../../../src/service/pools/pancakeswap-v2/kind.ts";
import { pancakeswapV3 } from "../../../src/service/pools/pancakeswap-v3/kind.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { loadDouble } from "../../support/doubles.ts";
import type { TestChain } from "./chain.ts";
import type { Market } from "./market.ts";

/** PancakeSwap's own bytecode, from its npm package. */
function loadPancake(name: "PancakeV3Pool" | "PancakeV3Factory"): Contract {
  const path = `@pancakeswap/v3-core/artifacts/contracts/${name}.sol/${name}.json`;
  const { abi, bytecode } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(path), "utf8"));
  return { abi: new Interface(abi), bytecode };
}

const POOL = loadPancake("PancakeV3Pool");
const FACTORY = loadPancake("PancakeV3Factory");

/** The hash by which PancakeSwap's router computes its pools' addresses on every network. Source: pancakeswap/pancake-v3-contracts@5cc479f0 projects/router/contracts/libraries/SmartRouterHelper.sol */
export const POOL_CODE_HASH = "0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2";

/** What it is of the package's bytecode. */
export const PACKAGED_POOL_CODE_HASH = keccak256(POOL.bytecode);

/** PancakeSwap on a test chain: pools and factory in its own bytecode, the rest in doubles. */
export interface Pancake {
  readonly protocols: readonly [v2: Protocol, v3: Protocol];
  readonly deployer: Address;
  readonly hand: Address;
  newPair(tokens: readonly [Address, Address], amounts: readonly [bigint, bigint]): Promise<Address>;
  newPool(tokens: readonly [Address, Address], plan: PoolPlan): Promise<Address>;
  /** A call that sells one amount after the other, for what it answers. */
  selling(pool: Address, zeroForOne: boolean, amounts: readonly bigint[]): { readonly to: Address; readonly data: Hex };
  deployRouter(facts: { readonly weth: Address; readonly deployer?: Address }): Promise<Address>;
}

interface PoolPlan {
  readonly fee: number;
  readonly sqrtPrice: bigint;
  readonly positions: readonly { readonly lower: number; readonly upper: number; readonly liquidity: bigint }[];
}

function encode({ abi }: Contract, method: string, values: readonly unknown[]): Hex {
  return abi.encodeFunctionData(method, values) as Hex;
}

/** Whoever makes pools approves `hand` for their tokens. */
export async function deployPancake(chain: TestChain): Promise<Pancake> {
  const [deployers, pairs, hands] = [
    loadDouble("PancakePoolDeployer"),
    loadDouble("PancakePairFactory"),
    loadDouble("PancakeHand"),
  ];
  const deployer = await chain.deploy(deployers, [POOL.bytecode]);
  const v3 = await chain.deploy(FACTORY, [deployer]);
  await chain.send({ to: deployer, data: encode(deployers, "setFactoryAddress", [v3]) });
  const v2 = await chain.deploy(pairs);
  const hand = await chain.deploy(hands);
  const created = async (factory: Address, data: Hex) =>
    toAddress(`0x${(await chain.call({ to: factory, data })).slice(-40)}`);
  return {
    protocols: [
      { kind: pancakeswapV2.number, factory: v2, feePips: 2_500 },
      { kind: pancakeswapV3.number, factory: v3, feePips: 0 },
    ],
    deployer,
    hand,
    async newPair(tokens, amounts) {
      await chain.send({ to: v2, data: encode(pairs, "createPair", tokens) });
      const pair = await created(v2, encode(pairs, "getPair", tokens));
      const sorted = tokens[0] < tokens[1] ? amounts : [...amounts].reverse();
      await chain.send({ to: hand, data: encode(hands, "addPair", [pair, ...sorted]) });
      return pair;
    },
    async newPool(tokens, { fee, sqrtPrice, positions }) {
      await chain.send({ to: v3, data: encode(FACTORY, "createPool", [...tokens, fee]) });
      const pool = await created(v3, encode(FACTORY, "getPool", [...tokens, fee]));
      await chain.send({ to: pool, data: encode(POOL, "initialize", [sqrtPrice]) });
      for (const { lower, upper, liquidity } of positions)
        await chain.send({ to: hand, data: encode(hands, "mint", [pool, lower, upper, liquidity]) });
      return pool;
    },
    selling: (pool, zeroForOne, amounts) => ({ to: hand, data: encode(hands, "sell", [pool, zeroForOne, amounts]) }),
    deployRouter: (facts) =>
      chain.deploy(loadDouble("PancakeRouter"), [v2, facts.deployer ?? deployer, v3, facts.weth, POOL_CODE_HASH]),
  };
}

const HAND = loadDouble("PancakeHand").abi;

/** What {@link Pancake.selling} answers. */
export function soldOf(answer: Hex): { readonly taken: readonly bigint[]; readonly paid: readonly bigint[] } {
  const [taken, paid] = HAND.decodeFunctionResult("sell", answer);
  return { taken: [...taken], paid: [...paid] };
}

const [E18, E6] = [10n ** 18n, 10n ** 6n];

/** Gives a market what {@link deployMarket} made of Uniswap, in pools of PancakeSwap, at prices near by. */
export async function addPancakePools(chain: TestChain, market: Market, pancake: Pancake): Promise<void> {
  const { weth, usdc, dai, usdt } = market;
  await chain.send({ to: weth, data: "0xd0e30db0", value: 3_000n * E18 });
  for (const token of [weth, usdc, dai, usdt]) await market.approve(token, pancake.hand);
  await pancake.newPair([weth, usdc], [400n * E18, 1_204_000n * E6]);
  await pancake.newPair([weth, dai], [500n * E18, 1_500_000n * E18]);
  await pancake.newPair([weth, usdt], [200n * E18, 600_000n * E6]);
  await pancake.newPair([usdc, usdt], [200_000n * E6, 200_000n * E6]);
  const center = (weth < usdc ? -1 : 1) * 196_250;
  const positions = [
    { lower: center - 60_000, upper: center + 60_000, liquidity: 10n ** 15n },
    { lower: center - 500, upper: center + 500, liquidity: 10n ** 16n },
  ];
  await pancake.newPool([weth, usdc], { fee: 2_500, sqrtPrice: sqrtRatioAtTick(center + 7), positions });
  const narrow = [{ lower: -100, upper: 100, liquidity: 10n ** 14n }];
  await pancake.newPool([usdc, usdt], { fee: 100, sqrtPrice: sqrtRatioAtTick(0), positions: narrow });
}
