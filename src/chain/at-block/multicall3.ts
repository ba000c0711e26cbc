import type { Hex } from "../../domain/money/address.ts";
import { MULTICALL3 } from "../../networks/network.ts";
import type { ViewCall, WordsAnswer } from "./batch-reader.ts";
import { readWitness, type Witness } from "./witness.ts";
import { addressWord, intWord, splitWords } from "./words.ts";

/** aggregate3((address,bool,bytes)[]) */
const AGGREGATE3 = "0x82ad56cb";

/** getBlockNumber(), getLastBlockHash(), getCurrentBlockTimestamp(): the contract reports the block it runs at. */
const WITNESS_CALLS: readonly ViewCall[] = (["0x42cbb15c", "0x27e86d6e", "0x0f28c97d"] as const).map((data) => {
  return { to: MULTICALL3, data, words: 1 };
});

const WORD_BYTES = 32;

function encodeCall({ to, data }: ViewCall): string {
  const bytes = (data.length - 2) / 2;
  const padded = data.slice(2).padEnd(Math.ceil(bytes / WORD_BYTES) * 2 * WORD_BYTES, "0");
  // Target, failures are allowed, the calldata after three words, its length.
  return addressWord(to) + intWord(1) + intWord(3 * WORD_BYTES) + intWord(bytes) + padded;
}

/** The calls, after those that report the block, as Multicall3 takes them. */
export function encodeAggregate(calls: readonly ViewCall[]): Hex {
  const entries = [...WITNESS_CALLS, ...calls].map(encodeCall);
  let offset = entries.length * WORD_BYTES;
  const offsets = entries.map((entry) => {
    const own = intWord(offset);
    offset += entry.length / 2;
    return own;
  });
  return `${AGGREGATE3}${intWord(WORD_BYTES)}${intWord(entries.length)}${offsets.join("")}${entries.join("")}`;
}

/** Reads Multicall3's answer; undefined when it is no such answer. */
export function decodeAggregate(
  answer: Hex,
  calls: readonly ViewCall[],
): { readonly witness: Witness; readonly answers: readonly WordsAnswer[] } | undefined {
  const words = splitWords(answer);
  const wanted = [...WITNESS_CALLS, ...calls];
  if (words[0] !== 32n || words[1] !== BigInt(wanted.length)) return undefined;
  const decoded = wanted.map((call, index) => decodeEntry(words, index, call));
  if (decoded.includes("malformed")) return undefined;
  const [number, previousHash, timestamp, ...answers] = decoded as WordsAnswer[];
  const witness = readWitness([number, previousHash, timestamp].flatMap((words) => words ?? []));
  return witness === undefined ? undefined : { witness, answers };
}

/** One entry: whether the call succeeded, and its bytes after two words. */
function decodeEntry(words: readonly bigint[], index: number, call: ViewCall): WordsAnswer | "malformed" {
  const offset = words[2 + index];
  if (offset === undefined || offset % 32n !== 0n || offset / 32n > BigInt(words.length)) return "malformed";
  const start = 2 + Number(offset) / WORD_BYTES;
  const [succeeded, , bytes] = words.slice(start, start + 3);
  if (succeeded === undefined || bytes === undefined) return "malformed";
  if (succeeded !== 1n || bytes < BigInt(call.words * WORD_BYTES)) return undefined;
  const own = words.slice(start + 3, start + 3 + call.words);
  return own.length === call.words ? own : "malformed";
}
