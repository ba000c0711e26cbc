import type { Address } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import type { BlockTransaction, ChainReader } from "./chain-reader.ts";
import type { OwnTransaction } from "./lane.ts";
import type { ForeignRange } from "./nonces.ts";

/** So many transactions of a range are looked for one by one; of more all blocks are read. */
const MAX_SOUGHT = 200;

/**
 * Reads what transactions paid that no row knows and a person accepted, so that balances can be counted with it. The
 * block of each is found by the account's count, where the node keeps that of older blocks, else by reading all blocks
 * that it may be in, unless these are too many.
 */
export async function readAcceptedTransactions(
  chain: ChainReader,
  ranges: readonly ForeignRange[],
  maxScannedBlocks: number,
): Promise<{
  readonly paid: readonly OwnTransaction[];
  /** accounts with transactions that could not be found, and in how many blocks they may be */
  readonly unread: ReadonlyMap<Address, number>;
  readonly notes: readonly string[];
}> {
  const found: BlockTransaction[] = [];
  const unread = new Map<Address, number>();
  for (const range of ranges) {
    const { account, blocks } = range;
    const transactions = (await byCount(chain, range)) ?? (await byReading(chain, range, maxScannedBlocks));
    if (transactions === undefined) unread.set(account, (unread.get(account) ?? 0) + blocks.to - blocks.from + 1);
    else found.push(...transactions);
  }
  const places = new Map(found.map(({ hash, blockNumber }) => [hash, blockNumber]));
  const receipts = await chain.receipts([...places.keys()], places);
  const paid = found.flatMap(({ hash, from: account, to, nonce, value }) => {
    const receipt = receipts.get(hash);
    return receipt === undefined ? [] : [{ account, hash, nonce, to, value, receipt }];
  });
  return { paid, unread, notes: paid.flatMap(sentNote) };
}

/** Coins that left are told: no row knows for what. */
function sentNote({ account, hash, nonce, to, value, receipt }: OwnTransaction): string[] {
  if (!receipt.succeeded || value === 0n || to === account) return [];
  return [
    `Nonce ${nonce} of ${account}, ${hash}, sent ${formatUnits(value, 18)} native coins to ${to ?? "a new contract"}.`,
  ];
}

/** @returns undefined where the node keeps no such counts */
async function byCount(
  chain: ChainReader,
  { account, from, to, blocks }: ForeignRange,
): Promise<readonly BlockTransaction[] | undefined> {
  if (to - from >= MAX_SOUGHT) return undefined;
  const found: BlockTransaction[] = [];
  let low = blocks.from;
  for (let nonce = from; nonce <= to; nonce += 1) {
    let high = blocks.to;
    // The lowest block with a count above the nonce.
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const count = await chain.transactionCount(account, middle);
      if (count === undefined) return undefined;
      if (count > nonce) high = middle;
      else low = middle + 1;
    }
    const there = await chain.transactionsFrom(new Set([account]), { from: low, to: low });
    found.push(...there.filter((transaction) => transaction.nonce === nonce));
  }
  return found;
}

/** @returns undefined where these are too many blocks to read */
async function byReading(
  chain: ChainReader,
  { account, from, to, blocks }: ForeignRange,
  maxScannedBlocks: number,
): Promise<readonly BlockTransaction[] | undefined> {
  if (blocks.to - blocks.from + 1 > maxScannedBlocks) return undefined;
  const found = await chain.transactionsFrom(new Set([account]), blocks);
  return found.filter(({ nonce }) => nonce >= from && nonce <= to);
}
