import { createHash } from "node:crypto";
import { keccak256, toUtf8Bytes } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";

/** Words of 32 bytes, as contracts take and give them. */

function word(value: bigint | number | Hex): string {
  return (typeof value === "string" ? value.slice(2) : value.toString(16)).padStart(64, "0");
}

export function words(...values: readonly (bigint | number | Hex)[]): Hex {
  return `0x${values.map(word).join("")}`;
}

export function wordAt(data: string, index: number, from = 10): bigint {
  const text = data.slice(from + index * 64, from + (index + 1) * 64);
  if (text.length !== 64) throw new Error("calldata ends too early");
  return BigInt(`0x${text}`);
}

export function addressAt(data: string, index: number, from = 10): Address {
  return `0x${data.slice(from + index * 64 + 24, from + (index + 1) * 64)}` as Address;
}

export function topicOf(address: Address): Hex {
  return `0x${word(address)}`;
}

const selectors = new Map<string, Hex>();

/** The first four bytes of what a function's signature hashes to. */
export function selector(signature: string): Hex {
  const known = selectors.get(signature);
  if (known !== undefined) return known;
  const made = eventTopic(signature).slice(0, 10) as Hex;
  selectors.set(signature, made);
  return made;
}

export function eventTopic(signature: string): Hex {
  return keccak256(toUtf8Bytes(signature)) as Hex;
}

/** A hash that need not be the chain's own: quick, and the same for the same text. */
export function quickHash(text: string): Hex {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** ABI encoding of one text. */
export function encodedText(text: string): Hex {
  const bytes = Buffer.from(text, "utf8").toString("hex");
  return `0x${word(32)}${word(text.length)}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0")}`;
}

export function isNativeAddress(address: string): boolean {
  return address === NATIVE_TOKEN;
}
