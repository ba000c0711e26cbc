import { ChainReadError } from "../domain/chain-read-error.ts";
import type { Address } from "../domain/money/address.ts";
import type { AgreedReads, BlockTransaction } from "../ports/chain.ts";

/** A nonce that a finalised block counts as used. */
interface UsedNonce {
  readonly account: Address;
  readonly nonce: number;
  /** number of that block */
  readonly finalized: number;
}

/**
 * The transaction of the account that took a nonce, which a finalised block counts as used. The block in which the count
 * rose past the nonce is found by halving; the steps are at most twice the bits of a block number, and recent blocks need
 * no archive.
 * @returns undefined when the nodes keep no state of that block, or do not list such a transaction in it
 */
export async function findNonceUse(reads: AgreedReads, used: UsedNonce): Promise<BlockTransaction | undefined> {
  const block = await blockOfUse(reads, used);
  const sent = await orRefused(reads.transactionsOf(used.account, block));
  return sent?.find((transaction) => transaction.nonce === used.nonce);
}

/**
 * The oldest block of which the nodes say that the nonce was used: back from the finalised one in growing steps, then
 * by halves. A step back may lead beyond what they keep, and the block in question lies before that all the same.
 */
async function blockOfUse(reads: AgreedReads, { account, nonce, finalized }: UsedNonce): Promise<number> {
  const isUsedAt = async (block: number): Promise<boolean> => {
    const count = await orRefused(reads.transactionCount(account, block));
    return count !== undefined && count > nonce;
  };
  let used = finalized;
  let unused = used - 1;
  while (unused >= 0 && (await isUsedAt(unused))) {
    const step = 2 * (finalized - unused);
    used = unused;
    unused = finalized - step;
  }
  unused = Math.max(unused, -1);
  while (used - unused > 1) {
    const middle = Math.floor((used + unused) / 2);
    if (await isUsedAt(middle)) used = middle;
    else unused = middle;
  }
  return used;
}

/** A state that a node has pruned stays away; any other trouble is waited out. */
async function orRefused<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ChainReadError && error.code === "refused") return undefined;
    throw error;
  }
}
