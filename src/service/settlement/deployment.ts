import { AbiCoder, getCreate2Address, id, keccak256 } from "ethers";
import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";
import type { NetworkOptions } from "../options.ts";
import { executorList } from "../pools/kinds.ts";

/** A contract that is to be created: where it will be, and the call that does it. */
export interface PlannedContract {
  readonly name: "executor" | "settlement";
  readonly address: Address;
  /** calldata for the deployer */
  readonly data: Hex;
}

/**
 * The deterministic deployment proxy of Arachnid, which is at this address on nearly every network: it creates what it
 * is handed by CREATE2, for any caller. So the settlement's address follows from its code and its network's facts
 * alone, no matter who deploys it.
 */
export const DEPLOYER = {
  address: toAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C"),
  runtime:
    "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3",
} as const;

const SALT = id("swapd settlement");

/** Where the contracts of a network are, and what creates them, in the order in which they must be. */
export function planDeployment(
  network: Pick<NetworkOptions, "wrappedNative" | "protocols">,
  creationCode: { readonly executor: Hex; readonly settlement: Hex },
): readonly [PlannedContract, PlannedContract] {
  const coder = AbiCoder.defaultAbiCoder();
  const listed = executorList(network.protocols).map(({ kind, factory, feePips, initCodeHash }) => {
    return [kind, factory, feePips, initCodeHash];
  });
  const executor = planned(
    "executor",
    creationCode.executor,
    coder.encode(["address", "tuple(uint8,address,uint24,bytes32)[]"], [network.wrappedNative, listed]),
  );
  const settlement = planned(
    "settlement",
    creationCode.settlement,
    coder.encode(["address", "address"], [network.wrappedNative, executor.address]),
  );
  return [executor, settlement];
}

function planned(name: PlannedContract["name"], creation: Hex, values: string): PlannedContract {
  const code = `${creation}${values.slice(2)}`;
  const address = toAddress(getCreate2Address(DEPLOYER.address, SALT, keccak256(code)));
  return { name, address, data: `${SALT}${code.slice(2)}` as Hex };
}
