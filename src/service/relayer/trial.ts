import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import { isFailedCall } from "../../net/node-errors.ts";
import { exactDataFee } from "../data-fees/op-stack.ts";
import type { NetworkOptions } from "../options.ts";
import { describeRevert } from "../settlement/calldata.ts";

/** What the exact transaction would do on top of the newest block. */
export type Trial =
  /** `dataFee`: wei beside gas, by the gas that the receipt will show */
  | { readonly kind: "works"; readonly gas: bigint; readonly dataFee: (gas: bigint) => bigint }
  | { readonly kind: "reverts"; readonly reason: string };

/** Tries a transaction out, and asks what its data costs. @throws RpcError when the node does not tell */
export async function tryOut(
  rpc: JsonRpc,
  { gasLimit, ...call }: { from: Address; to: Address; data: Hex; gasLimit: bigint },
  network: Pick<NetworkOptions, "chainId" | "dataFee">,
): Promise<Trial> {
  const charged = exactDataFee(network, { ...call, gasLimit });
  const [gas, ...fees] = await rpc.batch([{ method: "eth_estimateGas", params: [call] }, ...charged.requests]);
  if (!(gas instanceof RpcError)) {
    return { kind: "works", gas: BigInt(String(gas)), dataFee: charged.decode(rpc.host, fees) };
  }
  if (!isFailedCall(gas)) throw gas;
  return { kind: "reverts", reason: describeRevert(isHex(gas.data) ? gas.data : "0x") };
}
