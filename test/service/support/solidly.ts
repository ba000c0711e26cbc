import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import type { Contract } from "../../../src/sandbox/artifacts.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { solidly } from "../../../src/service/pools/solidly/kind.ts";
import { loadDouble } from "../../support/compile-double.ts";
import type { TestChain } from "./chain.ts";

const load = loadDouble("solidly-double");
const HAND = load("SolidlyHand");
const FACTORY = load("SolidlyFactory");

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
    selling: (pool, zeroForOne, amounts) => ({ to: hand, data: encode(HAND, "sell", [pool, zeroForOne, amounts]) }),
  };
}

/** What {@link Solidly.selling} answers. */
export function soldOf(answer: Hex): { readonly taken: readonly bigint[]; readonly paid: readonly bigint[] } {
  const [taken, paid] = HAND.abi.decodeFunctionResult("sell", answer);
  return { taken: [...taken], paid: [...paid] };
}
