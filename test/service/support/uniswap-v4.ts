import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Interface } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import type { Contract } from "../../../src/sandbox/artifacts.ts";
import type { Pool, Protocol } from "../../../src/service/pools/pool.ts";
import { uniswapV4 } from "../../../src/service/pools/uniswap-v4/kind.ts";
import { loadDouble } from "../../support/doubles.ts";
import type { TestChain } from "./chain.ts";

/** Uniswap's own bytecode, from its npm package. It is licensed for tests, and no part of what is released. */
function loadManager(): Contract {
  const path = "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json";
  const { abi, bytecode } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(path), "utf8"));
  return { abi: new Interface(abi), bytecode: bytecode.object };
}

const MANAGER = loadManager();
const HAND = loadDouble("V4Hand");

/** A pool's tokens in their order, its fee, its spacing and its hooks. */
export type V4Key = readonly [Address, Address, number, number, Address];

interface Position {
  readonly lower: number;
  readonly upper: number;
  readonly liquidity: bigint;
}

/** Uniswap V4 on a test chain: its manager in its own bytecode, and somebody who trades with it. */
export interface UniswapV4 {
  readonly protocol: Protocol;
  readonly manager: Address;
  /** whoever makes pools approves it for their tokens */
  readonly hand: Address;
  newPool(key: V4Key, plan: { readonly sqrtPrice: bigint; readonly positions: readonly Position[] }): Promise<void>;
  /** Adds a position, or takes from one where its liquidity is negative. */
  deposit(key: V4Key, position: Position): Promise<void>;
  /** Parts per million that the protocol takes of what is sold. */
  setProtocolFee(key: V4Key, selling0: number, selling1: number): Promise<void>;
  /** A call that sells one amount after the other, for what it answers. */
  selling(key: V4Key, zeroForOne: boolean, amounts: readonly bigint[]): { readonly to: Address; readonly data: Hex };
}

/** A pool's key, as the manager takes it. */
export function keyOf({ token0, token1, feePips, tickSpacing, constants }: Pool): V4Key {
  // The kind's own sign for pools of the native coin.
  return [constants?.[0] === 1 ? NATIVE_TOKEN : token0, token1, feePips, tickSpacing, NATIVE_TOKEN];
}

export async function deployUniswapV4(chain: TestChain): Promise<UniswapV4> {
  const encode = ({ abi }: Contract, method: string, values: readonly unknown[]) =>
    abi.encodeFunctionData(method, values) as Hex;
  const manager = await chain.deploy(MANAGER, [chain.deployer]);
  const hand = await chain.deploy(HAND, [manager]);
  await chain.send({ to: manager, data: encode(MANAGER, "setProtocolFeeController", [chain.deployer]) });
  await chain.rpc.call("anvil_setBalance", [hand, "0xd3c21bcecceda1000000"]);
  const deposit: UniswapV4["deposit"] = async (key, { lower, upper, liquidity }) => {
    await chain.send({ to: hand, data: encode(HAND, "deposit", [key, lower, upper, liquidity]) });
  };
  return {
    protocol: { kind: uniswapV4.number, factory: manager, feePips: 0 },
    manager,
    hand,
    deposit,
    async newPool(key, { sqrtPrice, positions }) {
      await chain.send({ to: manager, data: encode(MANAGER, "initialize", [key, sqrtPrice]) });
      for (const position of positions) await deposit(key, position);
    },
    async setProtocolFee(key, selling0, selling1) {
      const fees = (selling1 << 12) | selling0;
      await chain.send({ to: manager, data: encode(MANAGER, "setProtocolFee", [key, fees]) });
    },
    selling: (key, zeroForOne, amounts) => ({ to: hand, data: encode(HAND, "sell", [key, zeroForOne, amounts]) }),
  };
}

/** What {@link UniswapV4.selling} answers. */
export function soldInV4(answer: Hex): { readonly taken: readonly bigint[]; readonly paid: readonly bigint[] } {
  const [taken, paid] = HAND.abi.decodeFunctionResult("sell", answer);
  return { taken: [...taken], paid: [...paid] };
}
