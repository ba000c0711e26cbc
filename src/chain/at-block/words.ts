import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";

const WORD_MODULUS = 1n << 256n;

/** A 32-byte argument, 64 digits without `0x`. */
export type WordText = string & { readonly __word: unique symbol };

/** An address as an argument. */
export function addressWord(address: Address): WordText {
  return address.slice(2).padStart(64, "0") as WordText;
}

/** A number as an argument; negative ones in two's complement. */
export function intWord(value: number | bigint): WordText {
  const number = BigInt(value);
  return (number < 0n ? number + WORD_MODULUS : number).toString(16).padStart(64, "0") as WordText;
}

/** An unsigned number as an argument. @throws RangeError when it does not fit its type */
export function uintWord(value: number | bigint, bits: number): WordText {
  const number = BigInt(value);
  if (number < 0n || number >> BigInt(bits) !== 0n) throw new RangeError(`${number} is no uint${bits}`);
  return number.toString(16).padStart(64, "0") as WordText;
}

/** Bytes as words, the last one filled up with zeros on its right. */
export function splitBytes(bytes: Hex): WordText[] {
  const count = Math.ceil((bytes.length - 2) / 64);
  return Array.from({ length: count }, (_, index) => {
    return bytes
      .slice(2 + index * 64, 66 + index * 64)
      .toLowerCase()
      .padEnd(64, "0") as WordText;
  });
}

/** Bytes of any length as an argument: how many, then the bytes in words. */
export function bytesWords(bytes: Hex): readonly WordText[] {
  return [uintWord((bytes.length - 2) / 2, 256), ...splitBytes(bytes)];
}

/** A selector with its arguments. */
export function callData(selector: Hex, ...words: readonly WordText[]): Hex {
  return `${selector}${words.join("")}`;
}

/** Splits an answer into its 32-byte words. What does not fill a word is left out. */
export function splitWords(answer: Hex): bigint[] {
  const count = Math.floor((answer.length - 2) / 64);
  return Array.from({ length: count }, (_, index) => BigInt(`0x${answer.slice(2 + index * 64, 66 + index * 64)}`));
}

/** The first of an answer's words; undefined where it has none. A stranger's contract may answer half a million bytes. */
export function firstWord(answer: Hex): bigint | undefined {
  return splitWords(answer.slice(0, 66) as Hex)[0];
}

/** A word as a signed number of this many bits. */
export function signed(word: bigint, bits: number): bigint {
  return BigInt.asIntN(bits, word);
}

/** A word as an address; undefined for the zero address, which factories answer for "none", and for no word. */
export function readAddress(word: bigint | undefined): Address | undefined {
  if (word === undefined || word === 0n || word >> 160n !== 0n) return undefined;
  return toAddress(`0x${word.toString(16).padStart(40, "0")}`);
}
