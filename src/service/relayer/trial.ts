import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import { isRevert } from "../chain/batch-reader.ts";
import { describeRevert } from "../settlement/calldata.ts";

/** What the exact transaction would do on top of the newest block. */
export type Trial =
  | { readonly kind: "works"; readonly gas: bigint }
  | { readonly kind: "reverts"; readonly reason: string };

/** Tries a transaction out. @throws RpcError when the node does not tell */
export async function tryOut(rpc: JsonRpc, call: { from: Address; to: Address; data: Hex }): Promise<Trial> {
  const [gas] = await rpc.batch([{ method: "eth_estimateGas", params: [call] }]);
  if (!(gas instanceof RpcError)) return { kind: "works", gas: BigInt(String(gas)) };
  if (!isRevert(gas)) throw gas;
  return { kind: "reverts", reason: describeRevert(isHex(gas.data) ? gas.data : "0x") };
}
