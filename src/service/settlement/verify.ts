import { Interface, TypedDataEncoder } from "ethers";
import { type Hex, isHex } from "../../domain/money/address.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import { isRevert } from "../chain/batch-reader.ts";
import { isSettled, type NetworkOptions, type SettledNetwork } from "../options.ts";
import { settlementDomain } from "./order.ts";

const CONTRACTS = new Interface([
  "function executor() view returns (address)",
  "function wrappedNative() view returns (address)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function protocolCount() view returns (uint256)",
  "function protocols(uint256 index) view returns (uint8 kind, address factory, uint24 feePips)",
]);

/**
 * Holds the configured network against the chain: another chain, or other contracts, would take signatures and money
 * that were meant for these.
 * @throws Error that names the first difference; RpcError when the node does not answer
 */
export async function verifyNetwork(rpc: JsonRpc, network: NetworkOptions): Promise<void> {
  const chainId = BigInt(String(await rpc.call("eth_chainId", [])));
  if (chainId !== BigInt(network.chainId)) {
    throw new Error(`${rpc.host} serves chain ${chainId}, the configuration says ${network.chainId} (${network.name})`);
  }
  if (isSettled(network)) await verifySettlement(rpc, network);
}

/**
 * Holds the two contracts' own views against the facts of their network.
 * @throws Error that names the first difference; RpcError when the node does not answer
 */
export async function verifySettlement(
  rpc: JsonRpc,
  network: Pick<SettledNetwork, "name" | "chainId" | "wrappedNative" | "protocols" | "settlement" | "executor">,
): Promise<void> {
  const { settlement, executor, protocols } = network;
  const view = async (to: string, name: string, values: readonly unknown[] = []): Promise<string> => {
    const data = CONTRACTS.encodeFunctionData(name, values);
    const [answer] = await rpc.batch([{ method: "eth_call", params: [{ to, data }, "latest"] }]);
    if (answer instanceof RpcError && !isRevert(answer)) throw answer;
    if (!isHex(answer) || answer === "0x") {
      throw new Error(`the contract at ${to} on ${network.name} has no ${name}(): is this the settlement of swapd?`);
    }
    return CONTRACTS.decodeFunctionResult(name, answer as Hex)
      .toArray()
      .map(String)
      .join(" ")
      .toLowerCase();
  };
  const expected: [name: string, actual: string, wanted: string][] = [
    ["the settlement's executor", await view(settlement, "executor"), executor],
    ["the settlement's wrapped native token", await view(settlement, "wrappedNative"), network.wrappedNative],
    [
      "the settlement's signature domain",
      await view(settlement, "DOMAIN_SEPARATOR"),
      TypedDataEncoder.hashDomain(settlementDomain({ chainId: network.chainId, address: settlement })),
    ],
    ["the number of the executor's protocols", await view(executor, "protocolCount"), String(protocols.length)],
  ];
  for (const [index, { kind, factory, feePips }] of protocols.entries()) {
    const actual = await view(executor, "protocols", [index]);
    expected.push([`the executor's protocol ${index}`, actual, `${kind} ${factory} ${feePips}`]);
  }
  for (const [name, actual, wanted] of expected) {
    if (actual === wanted) continue;
    throw new Error(`${name} is ${actual} on ${network.name}, the configuration says ${wanted}: correct the addresses`);
  }
}
