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

/** Nodes that lag are behind by less; numbers of another chain are farther off. */
const OTHER_CHAIN_BLOCKS = 10_000n;

/** What calls at a block testify; undefined when they ran at another block. */
export function testimonyOf(
  witness: Witness,
  block: Pick<BlockHeader, "number" | "hash" | "parentHash" | "timestamp">,
): Testimony | undefined {
  const { number, previousHash } = witness;
  const at = BigInt(block.number);
  const sameTime = witness.timestamp === BigInt(block.timestamp);
  if (number === at && previousHash === BigInt(block.parentHash) && sameTime) return "block";
  if (number === at + 1n && previousHash === BigInt(block.hash)) return "child";
  const distance = number > at ? number - at : at - number;
  return sameTime && distance > OTHER_CHAIN_BLOCKS ? "time" : undefined;
}

/** Whether calls at this block's parent ran on top of the parent: as they do on a node that always runs them so. */
export function isChildOfParent({ number, previousHash }: Witness, block: BlockHeader): boolean {
  return number === BigInt(block.number) && previousHash === BigInt(block.parentHash);
}
