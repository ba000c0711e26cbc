import { ChainReadError } from "../domain/chain-read-error.ts";
import type { Hex } from "../domain/money/address.ts";
import type { IntentRow } from "../ports/lane-store.ts";
import type { LaneTurn } from "./lane-context.ts";

/** So many reads of transactions and blocks travel together. */
export const POLLS_AT_ONCE = 25;

/** Finds out which intents have to be checked, of those that have a nonce. */
export interface ConfirmedWatch {
  /** Leaves out what is confirmed and stands where it stood: nothing can have become of it. */
  toPoll(turn: LaneTurn, intents: readonly IntentRow[]): Promise<readonly IntentRow[]>;
}

/**
 * Where finality takes long, hundreds of transactions are confirmed and only watched. A block stands for all that is in it:
 * as long as the chain has the same one at its height, and it is not final, no receipt is asked for; and at the same newest
 * block nothing at all.
 */
export function createConfirmedWatch(): ConfirmedWatch {
  let newest: Hex | undefined;
  let standing = new Set<string>();
  return {
    async toPoll(turn, intents) {
      if (turn.latest.hash !== newest) standing = new Set();
      newest = turn.latest.hash;
      const watched = intents.filter((intent) => isOnlyWatched(turn, intent) && !standing.has(intent.id));
      const numbers = [...new Set(watched.flatMap(({ minedBlockNumber }) => minedBlockNumber ?? []))];
      const hashes = await hashesOf(turn, numbers);
      for (const { id, minedBlockNumber, minedBlockHash } of watched) {
        if (minedBlockNumber === undefined || minedBlockHash === undefined) continue;
        if (hashes.get(minedBlockNumber) === minedBlockHash) standing.add(id);
      }
      return intents.filter((intent) => !isOnlyWatched(turn, intent) || !standing.has(intent.id));
    },
  };
}

/** What is in a block that no endpoint shows is checked by itself, which reports what is wrong. */
async function hashesOf({ deps }: LaneTurn, numbers: readonly number[]): Promise<ReadonlyMap<number, Hex | undefined>> {
  const hashes = new Map<number, Hex | undefined>();
  const read = async (number: number): Promise<void> => {
    try {
      hashes.set(number, (await deps.chain.block(number))?.hash);
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error;
    }
  };
  for (let start = 0; start < numbers.length; start += POLLS_AT_ONCE)
    await Promise.all(numbers.slice(start, start + POLLS_AT_ONCE).map(read));
  return hashes;
}

function isOnlyWatched({ finalized }: LaneTurn, { state, minedBlockNumber }: IntentRow): boolean {
  return state === "confirmed" && minedBlockNumber !== undefined && minedBlockNumber > finalized.number;
}
