import { parseQuantity } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import { classOf, isFailedCall } from "../../chain/node-errors.ts";
import { toQuantity } from "../../chain/quantity.ts";
import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { exactDataFee } from "../data-fees/op-stack.ts";
import type { NetworkOptions } from "../options.ts";
import { describeRevert } from "../settlement/calldata.ts";

/** What the exact transaction would do on top of the newest block. */
export type RelaySimulation =
  /** `gas`: what it needs, or more than it may; `dataFee`: wei on top of gas, by the gas that the receipt will show */
  | { readonly kind: "works"; readonly gas: bigint; readonly dataFee: (gas: bigint) => bigint }
  | { readonly kind: "reverts"; readonly reason: string };

/**
 * A simulation gets so many times the gas that the swap may use: a token that wastes more of it wastes no more of the
 * node's time.
 */
const MOST_ATTEMPTS = 2n;

/** Simulates a transaction, and asks what its data costs. @throws RpcError when the node does not answer */
export async function simulateRelay(
  rpc: JsonRpc,
  { gasLimit, ...call }: { from: Address; to: Address; data: Hex; gasLimit: bigint },
  network: Pick<NetworkOptions, "chainId" | "dataFee">,
): Promise<RelaySimulation> {
  const charged = exactDataFee(network, { ...call, gasLimit });
  const most = gasLimit * MOST_ATTEMPTS;
  const estimate = { method: "eth_estimateGas", params: [{ ...call, gas: toQuantity(most) }] };
  const [gas, ...fees] = await rpc.batch([estimate, ...charged.requests]);
  const dataFee = () => charged.decode(rpc.host, fees);
  if (!(gas instanceof RpcError)) return { kind: "works", gas: parseQuantity(rpc.host, gas), dataFee: dataFee() };
  if (classOf(gas) === "out-of-gas") return { kind: "works", gas: most + 1n, dataFee: dataFee() };
  if (!isFailedCall(gas)) throw gas;
  return { kind: "reverts", reason: describeRevert(isHex(gas.data) ? gas.data : "0x") };
}
