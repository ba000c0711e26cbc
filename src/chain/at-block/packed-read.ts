import { type Hex, toAddress } from "../../domain/money/address.ts";
import type { ViewCall, WordsAnswer } from "./batch-reader.ts";
import { readWitness, type Witness } from "./witness.ts";
import { splitWords } from "./words.ts";

/**
 * Where the reader program (contracts/lent/BatchReader.yul) is injected: an address without a known key or contract,
 * the first bytes of the name in ASCII.
 */
export const READER_ADDRESS = toAddress("0x7377617064206261746368207265616465720000");

/** @throws RangeError: a longer call would be taken for another one */
function byte(value: number): string {
  if (value > 255) throw new RangeError(`a packed call of ${value} bytes or words is longer than the 255 it can be`);
  return value.toString(16).padStart(2, "0");
}

/** The calls as the reader program takes them. */
export function encodePacked(calls: readonly ViewCall[]): Hex {
  const entries = calls.map(({ to, data, words }) => {
    return `${to.slice(2)}${byte((data.length - 2) / 2)}${byte(words)}${data.slice(2)}`;
  });
  return `0x${entries.join("")}`;
}

/** Reads the program's answer; undefined when it has not the length that it must have. */
export function decodePacked(
  answer: Hex,
  calls: readonly ViewCall[],
): { readonly witness: Witness; readonly answers: readonly WordsAnswer[] } | undefined {
  const words = splitWords(answer);
  const witness = readWitness(words);
  if (witness === undefined) return undefined;
  let offset = 3;
  const answers = calls.map((call) => {
    const succeeded = words[offset] === 1n;
    const own = words.slice(offset + 1, offset + 1 + call.words);
    offset += 1 + call.words;
    return succeeded ? own : undefined;
  });
  const isWhole = words.length === offset && answer.length === 2 + 64 * offset;
  return isWhole ? { witness, answers } : undefined;
}
