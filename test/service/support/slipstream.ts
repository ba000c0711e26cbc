import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { Contract } from "../../../src/sandbox/artifacts.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { slipstream } from "../../../src/service/pools/slipstream/kind.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { loadDouble } from "../../support/compile-double.ts";
import type { TestChain } from "./chain.ts";
import type { Market } from "./market.ts";

const loadSlipstream = loadDouble("slipstream-double");
const HAND = loadSlipstream("SlipstreamHand");
const FACTORY = loadSlipstream("SlipstreamFactory");
const MODULE = loadSlipstream("SlipstreamFeeModule");
const ROUTER = loadSlipstream("SlipstreamRouter");

interface PoolPlan {
  readonly spacing: number;
  readonly sqrtPrice: bigint;
  readonly positions: readonly { readonly lower: number; readonly upper: number; readonly liquidity: bigint }[];
}

/** What a pool takes, in parts per million: more, for each hundred ticks from where it is now, up to a most. */
export interface MovingFee {
  readonly base: number;
  readonly growth: number;
  readonly most: number;
}

/** Slipstream on a test chain, in doubles: no package has its bytecode. */
export interface Slipstream {
  readonly protocol: Protocol;
  /** whoever makes pools approves it for their tokens */
  readonly hand: Address;
  newPool(tokens: readonly [Address, Address], plan: PoolPlan): Promise<Address>;
  enableSpacing(spacing: number, feePips: number): Promise<void>;
  setFee(pool: Address, fee: MovingFee): Promise<void>;
  /** A module of somebody's own in the place of the double's. */
  setModule(module: Address): Promise<void>;
  /** Its SwapRouter, a double likewise. */
  deployRouter(facts: { readonly weth: Address }): Promise<Address>;
  /** A call that sells one amount after the other, for what it answers. */
  selling(pool: Address, zeroForOne: boolean, amounts: readonly bigint[]): { readonly to: Address; readonly data: Hex };
}

export async function deploySlipstream(chain: TestChain): Promise<Slipstream> {
  const encode = ({ abi }: Contract, method: string, values: readonly unknown[]) =>
    abi.encodeFunctionData(method, values) as Hex;
  const implementation = await chain.deploy(loadSlipstream("SlipstreamPool"));
  const factory = await chain.deploy(FACTORY, [implementation]);
  const module = await chain.deploy(MODULE, [factory]);
  const hand = await chain.deploy(HAND);
  const toFactory = (method: string, values: readonly unknown[]) =>
    chain.send({ to: factory, data: encode(FACTORY, method, values) });
  await toFactory("setSwapFeeModule", [module]);
  return {
    protocol: { kind: slipstream.number, factory, feePips: 0 },
    hand,
    async newPool(tokens, { spacing, sqrtPrice, positions }) {
      await toFactory("createPool", [...tokens, spacing, sqrtPrice]);
      const word = await chain.call({ to: factory, data: encode(FACTORY, "getPool", [...tokens, spacing]) });
      const pool = toAddress(`0x${word.slice(-40)}`);
      for (const { lower, upper, liquidity } of positions)
        await chain.send({ to: hand, data: encode(HAND, "mint", [pool, lower, upper, liquidity]) });
      return pool;
    },
    async enableSpacing(spacing, feePips) {
      await toFactory("enableTickSpacing", [spacing, feePips]);
    },
    async setFee(pool, { base, growth, most }) {
      await chain.send({ to: module, data: encode(MODULE, "set", [pool, base, growth, most]) });
    },
    async setModule(of) {
      await toFactory("setSwapFeeModule", [of]);
    },
    deployRouter: ({ weth }) => chain.deploy(ROUTER, [factory, weth]),
    selling: (pool, zeroForOne, amounts) => ({ to: hand, data: encode(HAND, "sell", [pool, zeroForOne, amounts]) }),
  };
}

/** What {@link Slipstream.selling} answers. */
export function soldOf(answer: Hex): { readonly taken: readonly bigint[]; readonly paid: readonly bigint[] } {
  const [taken, paid] = HAND.abi.decodeFunctionResult("sell", answer);
  return { taken: [...taken], paid: [...paid] };
}

const E18 = 10n ** 18n;

/** Gives a market of Uniswap's pools some of Slipstream's, at prices near by. */
export async function addSlipstreamPools(chain: TestChain, market: Market, exchange: Slipstream): Promise<void> {
  const { weth, usdc, dai, usdt } = market;
  await chain.send({ to: weth, data: "0xd0e30db0", value: 3_000n * E18 });
  for (const token of [weth, usdc, dai, usdt]) await market.approve(token, exchange.hand);
  const center = (weth < usdc ? -1 : 1) * 196_200;
  const positions = [
    { lower: center - 60_000, upper: center + 60_000, liquidity: 10n ** 15n },
    { lower: center - 600, upper: center + 600, liquidity: 10n ** 16n },
  ];
  for (const spacing of [100, 200])
    await exchange.newPool([weth, usdc], { spacing, sqrtPrice: sqrtRatioAtTick(center + spacing / 20), positions });
  const narrow = [{ lower: -100, upper: 100, liquidity: 10n ** 14n }];
  await exchange.newPool([usdc, usdt], { spacing: 1, sqrtPrice: sqrtRatioAtTick(0), positions: narrow });
  const level = (dai < usdt ? -1 : 1) * 276_300;
  const wide = [{ lower: level - 2_000, upper: level + 2_000, liquidity: 10n ** 17n }];
  await exchange.newPool([dai, usdt], { spacing: 50, sqrtPrice: sqrtRatioAtTick(level), positions: wide });
}
