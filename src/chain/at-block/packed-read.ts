import { type Hex, toAddress } from "../../domain/money/address.ts";
import type { ViewCall, WordsAnswer } from "./batch-reader.ts";
import { readWitness, type Witness } from "./witness.ts";
import { splitWords } from "./words.ts";

/**
 * Performs packed calls and packs their answers; needs no deployed contract. The source, compiled for the "paris" rules
 * so that older networks run it too (a test compiles it again and compares):
 * input: entries of 20 bytes target, 1 byte calldata size, 1 byte number of answer words, the calldata;
 * output: 3 words that tell the block it ran at, then for each entry 1 word success (reverts and short answers are 0)
 * and the answer words.
 */
export const READER_SOURCE = `object "BatchReader" {
  code {
    mstore(0, number())
    mstore(32, blockhash(sub(number(), 1)))
    mstore(64, timestamp())
    let input := 0
    let output := 96
    for {} lt(input, calldatasize()) {} {
      let header := shr(80, calldataload(input))
      let answerSize := shl(5, and(header, 0xff))
      let dataSize := and(shr(8, header), 0xff)
      let answer := add(output, 32)
      let scratch := add(answer, answerSize)
      calldatacopy(scratch, add(input, 22), dataSize)
      let ok := staticcall(1000000, shr(16, header), scratch, dataSize, answer, answerSize)
      ok := and(ok, iszero(lt(returndatasize(), answerSize)))
      if iszero(ok) { calldatacopy(answer, calldatasize(), answerSize) }
      mstore(output, ok)
      output := scratch
      input := add(input, add(22, dataSize))
    }
    return(0, output)
  }
}`;

/** {@link READER_SOURCE} compiled. */
export const READER_CODE: Hex =
  "0x436000526000194301406020524260405260006060905b368110602157506000f35b906016908235611fe081604b1c1660ff8260581c169260208101918083866020838601018097828b8d01833760601c620f4240fa813d101516928315606b575b5050529201016016565b3690373880606156";

/** An address nobody has a key or a contract for: the first bytes of the name in ASCII. */
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
