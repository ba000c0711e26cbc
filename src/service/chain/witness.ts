import type { Hex } from "../../domain/money/address.ts";
import type { BlockHeader } from "./head.ts";

/**
 * A program that answers with number, previous hash and timestamp, run as the code of a contract that is never created:
 * number mstore(0), blockhash(number - 1) mstore(32), timestamp mstore(64), return(0, 96).
 */
export const WITNESS_CODE: Hex = "0x4360005260014303406020524260405260606000f3";

/** What the chain's own code says of the block it runs at. */
export interface Witness {
  readonly number: bigint;
  /** hash of the block before `number` */
  readonly previousHash: bigint;
  readonly timestamp: bigint;
}

/** Reads the answer of {@link WITNESS_CODE}, or the first words of one that begins like it. */
export function readWitness(words: readonly bigint[]): Witness | undefined {
  const [number, previousHash, timestamp] = words;
  if (number === undefined || previousHash === undefined || timestamp === undefined) return undefined;
  return { number, previousHash, timestamp };
}

/**
 * How much of that holds for calls at a block. `block`: number, parent and time are the block's. `child`: the node runs
 * calls in a block on top of it. `time`: only the time is the block's (rollups whose numbers are those of another chain).
 */
export type Testimony = "block" | "child" | "time";

/** What a node's calls at this block testify; undefined when they ran at another block. */
export function testimonyOf(witness: Witness, block: BlockHeader): Testimony | undefined {
  const { number, previousHash, timestamp } = witness;
  const at = BigInt(block.number);
  if (number === at && previousHash === BigInt(block.parentHash) && timestamp === BigInt(block.timestamp))
    return "block";
  if (number === at + 1n && previousHash === BigInt(block.hash)) return "child";
  // The same number with another parent is a block of another branch, whatever its time.
  if (number === at || number === at + 1n) return undefined;
  return timestamp === BigInt(block.timestamp) ? "time" : undefined;
}
