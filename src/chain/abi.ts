import { FunctionFragment, Interface } from "ethers";
import type { Address, Hex } from "../domain/money/address.ts";

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

const SELECTORS = new Map(
  TOKEN.fragments
    .flatMap((fragment) => (FunctionFragment.isFragment(fragment) ? [fragment] : []))
    .map(({ name, selector }) => [name, selector]),
);

/** Calls that answer one word, and whether it is a number. */
const ONE_WORD: Partial<Record<TokenCall, "number" | "bytes">> = {
  balanceOf: "number",
  allowance: "number",
  decimals: "number",
  nonces: "number",
  DOMAIN_SEPARATOR: "bytes",
  PERMIT_TYPEHASH: "bytes",
};

const WORD_PATTERN = /^0x[0-9a-f]{64}$/;

/** Calldata of a call whose arguments are addresses. Laid out by hand: the library takes most of a read's time for it. */
export function encodeTokenCall(name: TokenCall, args: readonly Address[]): Hex {
  return `${SELECTORS.get(name)}${args.map((address) => address.slice(2).padStart(64, "0")).join("")}` as Hex;
}

/** Decodes an answer; undefined when it has not the shape of the call's return values. */
export function decodeTokenAnswer(name: TokenCall, answer: Hex): ArrayLike<unknown> | undefined {
  const word = ONE_WORD[name];
  if (word !== undefined && WORD_PATTERN.test(answer)) return [word === "number" ? BigInt(answer) : answer];
  try {
    const result = TOKEN.decodeFunctionResult(name, answer);
    // Text that is not UTF-8 is decoded lazily and throws here, not later.
    result.toArray(true);
    return result;
  } catch {
    return undefined;
  }
}
