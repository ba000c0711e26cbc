import { Interface, type Result } from "ethers";
import type { Hex } from "../../domain/money/address.ts";

/** The view calls of tokens that the daemon reads. */
const TOKEN = new Interface([
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address,address) view returns (uint256)",
  "function decimals() view returns (uint256)",
  "function nonces(address) view returns (uint256)",
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function PERMIT_TYPEHASH() view returns (bytes32)",
  "function eip712Domain() view returns (bytes1,string,string,uint256,address,bytes32,uint256[])",
]);

export type TokenCall =
  | "balanceOf"
  | "allowance"
  | "decimals"
  | "nonces"
  | "name"
  | "version"
  | "DOMAIN_SEPARATOR"
  | "PERMIT_TYPEHASH"
  | "eip712Domain";

export function encodeTokenCall(name: TokenCall, args: readonly string[]): Hex {
  return TOKEN.encodeFunctionData(name, args) as Hex;
}

/** Decodes an answer; undefined when it has not the shape of the call's return values. */
export function decodeTokenAnswer(name: TokenCall, answer: Hex): Result | undefined {
  try {
    const result = TOKEN.decodeFunctionResult(name, answer);
    // Text that is not UTF-8 is decoded lazily and throws here, not later.
    result.toArray(true);
    return result;
  } catch {
    return undefined;
  }
}
