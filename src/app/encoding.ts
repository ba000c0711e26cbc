import { Interface, TypedDataEncoder } from "ethers";
import type { TypedData } from "../domain/guard/typed-data.ts";
import type { Address, Hex } from "../domain/money/address.ts";

type MutableTypes = Record<string, { name: string; type: string }[]>;

/** EIP-712 digest of typed data. */
export function digestOf({ domain, types, message }: TypedData): Hex {
  return TypedDataEncoder.hash(domain, structuredClone(types) as MutableTypes, { ...message }) as Hex;
}

const ERC20 = new Interface(["function approve(address spender, uint256 amount) returns (bool)"]);

/** Calldata of `approve(spender, amount)`. */
export function approveCalldata(spender: Address, amount: bigint): Hex {
  return ERC20.encodeFunctionData("approve", [spender, amount]) as Hex;
}
