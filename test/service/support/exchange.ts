import { id } from "ethers";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "../../../src/networks/init-codes.ts";
import { type Contract, loadContract, loadUniswap } from "../../../src/sandbox/artifacts.ts";
import { executorList } from "../../../src/service/pools/kinds.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import type { TestChain } from "./chain.ts";

/** Uniswap's factories, the settlement contracts and a way to make pools, on a test chain. */
export interface Exchange {
  readonly wrappedNative: Address;
  readonly protocols: readonly Protocol[];
  readonly settlement: Address;
  readonly executor: Address;
  readonly minter: Address;
  newToken(
    decimals: number,
    contract?: "PermitToken" | "DaiPermitToken" | "UsdtLikeToken" | "HostileToken",
  ): Promise<Address>;
  newPair(tokenA: Address, tokenB: Address, reserves: { amountA: bigint; amountB: bigint }): Promise<Address>;
  newPool(
    tokenA: Address,
    tokenB: Address,
    pool: { fee: number; sqrtPrice: bigint; positions: { lower: number; upper: number; liquidity: bigint }[] },
  ): Promise<Address>;
  newStablePool(tokenA: Address, tokenB: Address, pool: StablePoolPlan): Promise<Address>;
  approve(token: Address, spender: Address): Promise<void>;
}

interface StablePoolPlan {
  readonly amplification: number;
  /** in parts of 1e10 */
  readonly fee: number;
  readonly amountA: bigint;
  readonly amountB: bigint;
}

export const FEE_TIERS = [100, 500, 3000, 10_000];

const CONTRACTS = {
  settlement: loadContract("SwapdSettlement"),
  minter: loadContract("PoolMinter"),
  token: loadContract("PermitToken"),
  v2: loadUniswap("UniswapV2Factory"),
  v3: loadUniswap("UniswapV3Factory"),
  pool: loadUniswap("UniswapV3Pool"),
  stableFactory: loadContract("StablePoolFactory"),
  stablePool: loadContract("StablePool"),
};

function encode(contract: Contract, method: string, values: readonly unknown[]): Hex {
  return contract.abi.encodeFunctionData(method, values) as Hex;
}

/**
 * Makes an executor one of an earlier release, as far as it is asked: the view has another name. To be called before
 * anybody trades with it, and of one that was told no codes.
 */
export async function forgetHashes(chain: TestChain, executor: Address): Promise<void> {
  const code = (await chain.rpc.call("eth_getCode", [executor, "latest"])) as Hex;
  // Where the selector is pushed and compared for being equal.
  const pushed = `63${id("initCodeHashes(uint256)").slice(2, 10)}14`;
  if (code.split(pushed).length !== 2) throw new Error("the executor's code has no such comparison, or several");
  await chain.rpc.call("anvil_setCode", [executor, code.replace(pushed, "63deadbeef14")]);
}

/**
 * @param others factories of further kinds of pools, which the executor is to know too
 * @param knowsCodes whether the executor is told by what code factories create pools
 */
export async function deployExchange(
  chain: TestChain,
  others: readonly Protocol[] = [],
  knowsCodes = true,
): Promise<Exchange> {
  const wrappedNative = await chain.deploy(loadContract("WrappedNative"));
  const v2 = await chain.deploy(CONTRACTS.v2, [chain.deployer]);
  const v3 = await chain.deploy(CONTRACTS.v3);
  await chain.send({ to: v3, data: encode(CONTRACTS.v3, "enableFeeAmount", [100, 1]) });
  const stableFactory = await chain.deploy(CONTRACTS.stableFactory);
  const stablePlaces = new Map<string, number>();
  const protocols: Protocol[] = [
    { kind: 1, factory: v2, feePips: 3000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: v3, feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    { kind: 3, factory: stableFactory, feePips: 0 },
    ...others,
  ];
  const told = knowsCodes ? protocols : protocols.map(({ initCodeHash: _, ...protocol }) => protocol);
  const listed = executorList(told);
  const executor = await chain.deploy(loadContract("SwapdExecutor"), [wrappedNative, listed]);
  const settlement = await chain.deploy(CONTRACTS.settlement, [wrappedNative, executor]);
  const minter = await chain.deploy(CONTRACTS.minter);
  let tokens = 0;

  async function approve(token: Address, spender: Address) {
    await chain.send({ to: token, data: encode(CONTRACTS.token, "approve", [spender, (1n << 256n) - 1n]) });
  }

  async function created(factory: Address, read: Hex): Promise<Address> {
    return toAddress(`0x${(await chain.call({ to: factory, data: read })).slice(-40)}`);
  }

  return {
    wrappedNative,
    protocols,
    settlement,
    executor,
    minter,
    approve,
    async newToken(decimals, contract = "PermitToken") {
      tokens += 1;
      const token = await chain.deploy(loadContract(contract), [`Token ${tokens}`, `TK${tokens}`, decimals]);
      await chain.send({ to: token, data: encode(CONTRACTS.token, "mint", [chain.deployer, 10n ** 40n]) });
      await approve(token, minter);
      await approve(token, settlement);
      return token;
    },
    async newPair(tokenA, tokenB, { amountA, amountB }) {
      await chain.send({ to: v2, data: encode(CONTRACTS.v2, "createPair", [tokenA, tokenB]) });
      const pair = await created(v2, encode(CONTRACTS.v2, "getPair", [tokenA, tokenB]));
      const amounts = tokenA < tokenB ? [amountA, amountB] : [amountB, amountA];
      await chain.send({ to: minter, data: encode(CONTRACTS.minter, "addV2", [pair, ...amounts]) });
      return pair;
    },
    async newPool(tokenA, tokenB, { fee, sqrtPrice, positions }) {
      await chain.send({ to: v3, data: encode(CONTRACTS.v3, "createPool", [tokenA, tokenB, fee]) });
      const pool = await created(v3, encode(CONTRACTS.v3, "getPool", [tokenA, tokenB, fee]));
      await chain.send({ to: pool, data: encode(CONTRACTS.pool, "initialize", [sqrtPrice]) });
      for (const { lower, upper, liquidity } of positions) {
        const data = encode(CONTRACTS.minter, "mintV3", [pool, lower, upper, liquidity]);
        await chain.send({ to: minter, data });
      }
      return pool;
    },
    async newStablePool(tokenA, tokenB, { amplification, fee, amountA, amountB }) {
      const data = encode(CONTRACTS.stableFactory, "deploy", [tokenA, tokenB, amplification, fee]);
      await chain.send({ to: stableFactory, data });
      const key = [tokenA, tokenB].sort().join();
      const place = stablePlaces.get(key) ?? 0;
      stablePlaces.set(key, place + 1);
      const find = encode(CONTRACTS.stableFactory, "find_pool_for_coins", [tokenA, tokenB, place]);
      const pool = await created(stableFactory, find);
      await approve(tokenA, pool);
      await approve(tokenB, pool);
      await chain.send({ to: pool, data: encode(CONTRACTS.stablePool, "add", [amountA, amountB]) });
      return pool;
    },
  };
}
