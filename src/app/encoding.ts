import { TypedDataEncoder } from "ethers";
import type { TypedData } from "../domain/guard/typed-data.ts";
import type { Hex } from "../domain/money/address.ts";

type MutableTypes = Record<string, { name: string; type: string }[]>;

/** EIP-712 digest of typed data. */
export function digestOf({ domain, types, message }: TypedData): Hex {
  return TypedDataEncoder.hash(domain, structuredClone(types) as MutableTypes, { ...message }) as Hex;
}
