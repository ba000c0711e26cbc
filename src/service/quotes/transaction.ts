import { type Address, type Hex, isHex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { mulDivUp } from "../../domain/money/amount.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import { isRevert } from "../chain/batch-reader.ts";
import type { Head } from "../chain/head.ts";
import { type Refusal, refuse } from "../errors.ts";
import { isSettled, type NetworkOptions } from "../options.ts";
import { describeRevert, encodeSwap } from "../settlement/calldata.ts";
import { grossAmount } from "../settlement/order.ts";
import type { Quote } from "./quote.ts";

/** What the owner of a quote broadcasts; fees in wei per gas. */
export interface SwapTransaction {
  readonly kind: "transaction";
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly fees:
    | { readonly type: 2; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
    | { readonly type: 0; readonly gasPrice: bigint };
}

/** An estimate holds for this very block; later ones may cross more ticks. */
const ESTIMATE_PERCENT = 115n;

/** The base fee can double in six blocks; a transaction that is not mined by then is priced anew. */
const BASE_FEE_FACTOR = 2n;

/**
 * The transaction of a self-executed quote.
 * @param estimateGas ask the node for the gas limit; a swap that would revert now is refused with the reason
 */
export async function buildTransaction(
  quote: Quote,
  context: { network: NetworkOptions; rpc: JsonRpc; head: Head },
  estimateGas: boolean,
): Promise<SwapTransaction | Refusal> {
  if (quote.owner === undefined) return refuse("QUOTE_INDICATIVE", { parameter: "quoteId" });
  if (quote.gasless) return refuse("QUOTE_GASLESS", { parameter: "quoteId" });
  const { head, network, rpc } = context;
  if (!isSettled(network)) return refuse("SETTLEMENT_MISSING", { parameter: "quoteId" });
  const { order } = quote;
  const fields = {
    from: quote.owner,
    to: network.settlement,
    data: encodeSwap(order, quote.legs),
    value: order.fromAsset === NATIVE_TOKEN ? grossAmount(order) : 0n,
  };
  const gasLimit = estimateGas ? await estimate(rpc, fields) : quote.gasLimit;
  if (typeof gasLimit !== "bigint") return gasLimit;
  return { kind: "transaction", ...fields, gasLimit, fees: feesAt(head) };
}

function feesAt(head: Head): SwapTransaction["fees"] {
  if (head.baseFeePerGas === undefined) return { type: 0, gasPrice: head.gasPrice };
  const { baseFeePerGas, priorityFeePerGas } = head;
  return {
    type: 2,
    maxFeePerGas: baseFeePerGas * BASE_FEE_FACTOR + priorityFeePerGas,
    maxPriorityFeePerGas: priorityFeePerGas,
  };
}

async function estimate(
  rpc: JsonRpc,
  call: { from: Address; to: Address; data: Hex; value: bigint },
): Promise<bigint | Refusal> {
  try {
    const gas = await rpc.call("eth_estimateGas", [{ ...call, value: `0x${call.value.toString(16)}` }]);
    if (typeof gas !== "string" || !isQuantity(gas)) throw new Error("the node's gas estimate is no number");
    return mulDivUp(BigInt(gas), ESTIMATE_PERCENT, 100n);
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== "rpc" || !isRevert(error)) throw error;
    const detail = isHex(error.data) ? describeRevert(error.data) : describeRevert("0x");
    return refuse("SIMULATION_REVERTED", { parameter: "quoteId", detail });
  }
}

function isQuantity(text: string): boolean {
  return /^0x[0-9a-f]{1,16}$/i.test(text);
}
