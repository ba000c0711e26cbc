import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import type { Contract } from "../../../src/sandbox/artifacts.ts";
import { type Protocol, sortTokens } from "../../../src/service/pools/pool.ts";
import { solidly } from "../../../src/service/pools/solidly/kind.ts";
import { loadDouble } from "../../support/compile-double.ts";
import type { TestChain } from "./chain.ts";
import type { Market } from "./market.ts";

const load = loadDouble("solidly-double");
const HAND = load("SolidlyHand");
const FACTORY = load("SolidlyFactory");
const ROUTER = load("SolidlyRouter");

/** Solidly on a test chain, in doubles: no package has its bytecode. */
export interface Solidly {
  readonly protocol: Protocol;
  /** whoever makes pools approves it for their tokens */
  readonly hand: Address;
  /** Makes a pool, with what is held of each token in the order of their addresses. */
  newPool(tokens: readonly [Address, Address], isStable: boolean, held: readonly [bigint, bigint]): Promise<Address>;
  /** A stable pool of a fork that rounds by one wei otherwise. */
  newOther(tokens: readonly [Address, Address], held: readonly [bigint, bigint]): Promise<void>;
  /** In parts of 10,000; 420 is no fee at all. */
  setFee(pool: Address, fee: number): Promise<void>;
  pause(isPaused: boolean): Promise<void>;
  /** A double of its router, which takes pools of this factory for its own. */
  deployRouter(weth: Address): Promise<Address>;
  /** A call that sells one amount after the other, for what it answers. */
  selling(pool: Address, zeroForOne: boolean, amounts: readonly bigint[]): { readonly to: Address; readonly data: Hex };
}

export async function deploySolidly(chain: TestChain): Promise<Solidly> {
  const encode = ({ abi }: Contract, method: string, values: readonly unknown[]) =>
    abi.encodeFunctionData(method, values) as Hex;
  const factory = await chain.deploy(FACTORY);
  const hand = await chain.deploy(HAND);
  const toFactory = (method: string, values: readonly unknown[]) =>
    chain.send({ to: factory, data: encode(FACTORY, method, values) });
  const filled: Solidly["newPool"] = async (tokens, isStable, held) => {
    const word = await chain.call({ to: factory, data: encode(FACTORY, "getPool", [...tokens, isStable]) });
    const pool = toAddress(`0x${word.slice(-40)}`);
    await chain.send({ to: hand, data: encode(HAND, "deposit", [pool, ...held]) });
    return pool;
  };
  return {
    protocol: { kind: solidly.number, factory, feePips: 0 },
    hand,
    async newPool(tokens, isStable, held) {
      await toFactory("createPool", [...tokens, isStable]);
      return filled(tokens, isStable, held);
    },
    async newOther(tokens, held) {
      await toFactory("createOther", tokens);
      await filled(tokens, true, held);
    },
    async setFee(pool, fee) {
      await toFactory("setCustomFee", [pool, fee]);
    },
    async pause(isPaused) {
      await toFactory("setPauseState", [isPaused]);
    },
    deployRouter: (weth) => chain.deploy(ROUTER, [factory, weth]),
    selling: (pool, zeroForOne, amounts) => ({ to: hand, data: encode(HAND, "sell", [pool, zeroForOne, amounts]) }),
  };
}

/** What {@link Solidly.selling} answers. */
export function soldOf(answer: Hex): { readonly taken: readonly bigint[]; readonly paid: readonly bigint[] } {
  const [taken, paid] = HAND.abi.decodeFunctionResult("sell", answer);
  return { taken: [...taken], paid: [...paid] };
}

/** Pools of the market's tokens, some of which are the better ones for some trades. */
export async function addSolidlyPools(chain: TestChain, market: Market, { hand, newPool }: Solidly): Promise<void> {
  const { weth, usdc, dai, usdt } = market;
  const dollars = 600_000n;
  await chain.send({ to: weth, data: "0xd0e30db0", value: 1_000n * 10n ** 18n });
  const units = new Map([
    [weth, (dollars * 10n ** 18n) / 3_000n],
    [usdc, dollars * 10n ** 6n],
    [usdt, dollars * 10n ** 6n],
    [dai, dollars * 10n ** 18n],
  ]);
  for (const token of units.keys()) await market.approve(token, hand);
  for (const [one, other, isStable] of [
    [weth, usdc, false],
    [weth, usdt, false],
    [usdc, dai, true],
    [usdc, usdt, true],
    [usdc, usdt, false],
  ] as const) {
    const pair = sortTokens(one, other);
    await newPool(pair, isStable, [units.get(pair[0]) ?? 0n, units.get(pair[1]) ?? 0n]);
  }
}
