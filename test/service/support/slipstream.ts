import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { Contract } from "../../../src/sandbox/artifacts.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { slipstream } from "../../../src/service/pools/slipstream/kind.ts";
import { loadSlipstream } from "../../support/slipstream-double/compile.ts";
import type { TestChain } from "./chain.ts";

const HAND = loadSlipstream("SlipstreamHand");
const FACTORY = loadSlipstream("SlipstreamFactory");
const MODULE = loadSlipstream("SlipstreamFeeModule");

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
    selling: (pool, zeroForOne, amounts) => ({ to: hand, data: encode(HAND, "sell", [pool, zeroForOne, amounts]) }),
  };
}

/** What {@link Slipstream.selling} answers. */
export function soldOf(answer: Hex): { readonly taken: readonly bigint[]; readonly paid: readonly bigint[] } {
  const [taken, paid] = HAND.abi.decodeFunctionResult("sell", answer);
  return { taken: [...taken], paid: [...paid] };
}
