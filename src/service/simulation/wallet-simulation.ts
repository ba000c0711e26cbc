import { z } from "zod";
import { malformedAnswer } from "../../chain/at-block/head.ts";
import { RpcError, type RpcRequest } from "../../chain/json-rpc.ts";
import { isFailedCall } from "../../chain/node-errors.ts";
import { toQuantity } from "../../chain/quantity.ts";
import type { NodeView, Overrides } from "../../chain/storage/node-view.ts";
import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { mulDivUp } from "../../domain/money/amount.ts";
import { describeRevert } from "../settlement/calldata.ts";

/** A swap's transaction, fees aside. */
export interface SwapCall {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  /** the most that it may use while it is tried */
  readonly gas: bigint;
}

/** What the recipient gets, out of a swap's answer; undefined: that is no answer of the contract. */
export type ReadAmount = (answer: Hex) => bigint | "not said" | undefined;

/** What the swap would do. `not run`: the node does not say, because it could not run it or because of its own limits. */
export type WalletSimulation =
  | {
      readonly kind: "works";
      /** what the recipient gets; where the contract says it */
      readonly amountOut: bigint | "not said";
      /** what a receipt would say; undefined where the node cannot know */
      readonly gasUsed: bigint | undefined;
      /** enough gas for the blocks to come; undefined where the node cannot know */
      readonly gasLimit: bigint | undefined;
    }
  | { readonly kind: "reverts"; readonly reason: string }
  | { readonly kind: "not run" };

/** An estimate holds for this very block; later ones may cross more ticks. */
const ESTIMATE_PERCENT = 115n;

/** What is given back at the end, at most a fifth of what was used, must be there before (EIP-3529). */
const BEFORE_REFUNDS_PERCENT = 125n;

const simulated = z.tuple([
  z.object({ calls: z.tuple([z.object({ status: z.literal("0x1"), gasUsed: z.string() })]) }),
]);

/**
 * How a swap is tried. The call says what it does, and the estimate how much gas it must be given; both take place in
 * the newest block once more. `eth_simulateV1`, which not all nodes have, runs it in the next one and reports the gas
 * that is used: a pool that was traded with in the newest block costs more in the next, where it writes its prices
 * down.
 */
export function simulationRequests(call: SwapCall, node: NodeView, overrides: Overrides | undefined): RpcRequest[] {
  const { block, head } = node;
  const fields = { ...call, value: toQuantity(call.value), gas: toQuantity(call.gas) };
  const { data, ...rest } = fields;
  const next = {
    blockOverrides: { number: toQuantity(head.number + 1), time: toQuantity(head.timestamp + 1) },
    ...(overrides === undefined ? {} : { stateOverrides: overrides }),
    calls: [{ ...rest, input: data }],
  };
  const params = overrides === undefined ? [fields, block] : [fields, block, overrides];
  return [
    { method: "eth_call", params },
    { method: "eth_estimateGas", params },
    { method: "eth_simulateV1", params: [{ blockStateCalls: [next], validation: false }, block] },
  ];
}

/**
 * Reads the answers to {@link simulationRequests}.
 * @throws RpcError when the node answers nonsense
 */
export function readSimulation(host: string, answers: readonly unknown[], readAmount: ReadAmount): WalletSimulation {
  const [called, estimated, next] = answers;
  if (called instanceof RpcError) {
    if (!isFailedCall(called)) return { kind: "not run" };
    return { kind: "reverts", reason: describeRevert(isHex(called.data) ? called.data : "0x") };
  }
  const amountOut = isHex(called) ? readAmount(called) : undefined;
  if (amountOut === undefined) throw malformedAnswer(host, "the node's answer to a swap is no amount");
  const gasUsed = readGasUsed(next);
  const estimate = readGas(estimated);
  const inNext = gasUsed === undefined ? 0n : mulDivUp(gasUsed, BEFORE_REFUNDS_PERCENT, 100n);
  const least = estimate === undefined || estimate > inNext ? estimate : inNext;
  const gasLimit = least === undefined ? undefined : mulDivUp(least, ESTIMATE_PERCENT, 100n);
  return { kind: "works", amountOut, gasUsed, gasLimit };
}

function readGasUsed(answer: unknown): bigint | undefined {
  const parsed = simulated.safeParse(answer);
  return parsed.success ? readGas(parsed.data[0].calls[0].gasUsed) : undefined;
}

/** Gas in a block's bounds; anything else is no estimate. */
function readGas(answer: unknown): bigint | undefined {
  return typeof answer === "string" && /^0x[0-9a-f]{1,10}$/i.test(answer) ? BigInt(answer) : undefined;
}
