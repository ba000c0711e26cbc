import { z } from "zod";
import type { Hex } from "../domain/money/address.ts";
import type { Ask } from "./ask-node.ts";
import { namingBlock, type Receipt, receipt } from "./node-answers.ts";
import { Refusal } from "./node-client.ts";
import { readBlock } from "./read-answer.ts";
import { AuditError } from "./report.ts";
import type { IntentRow, SwapRow } from "./rows.ts";

/** In which block up to the tip each transaction is, by the chain's events and by what is recorded. */
export function placesOf(
  rows: { readonly swaps: ReadonlyMap<string, SwapRow>; readonly intents: ReadonlyMap<string, IntentRow> },
  moves: readonly { readonly hash: Hex; readonly blockNumber: number }[],
  tip: { readonly number: number },
): ReadonlyMap<Hex, number> {
  const places = new Map<Hex, number>();
  const add = (hash: Hex | null, block: number | null): void => {
    if (hash && block !== null && block <= tip.number) places.set(hash, block);
  };
  for (const { hash, block_number: block } of rows.swaps.values()) add(hash, block);
  for (const { mined_attempt_hash: hash, mined_block_number: block } of rows.intents.values()) add(hash, block);
  // What the chain itself says counts for more.
  for (const { hash, blockNumber } of moves) places.set(hash, blockNumber);
  return places;
}

/** A block's receipts are many, and are read for a few of them. */
const BLOCKS_PER_BATCH = 5;

/**
 * Receipts of transactions that a node finds by their hashes no more: many forget after some weeks in which block each is,
 * and keep the blocks themselves for longer. Those that are not in the block that is said to have them are missing.
 * @throws AuditError `CHAIN_UNREADABLE` where the node keeps such a block no more, or it has one of them and the node does
 * not give its receipt
 */
export async function receiptsInBlocks(
  node: { readonly host: string; readonly ask: Ask },
  places: readonly { readonly hash: Hex; readonly block: Hex }[],
): Promise<readonly Receipt[]> {
  const byBlock = [...Map.groupBy(places, ({ block }) => block)];
  const found: Receipt[] = [];
  for (let first = 0; first < byBlock.length; first += BLOCKS_PER_BATCH) {
    const part = byBlock.slice(first, first + BLOCKS_PER_BATCH).map(([block, wanted]) => {
      return { block, hashes: wanted.map(({ hash }) => hash) };
    });
    const blocks = await node.ask(
      part.map(({ block }) => ({ method: "eth_getBlockByNumber", params: [block, false] })),
    );
    const listed = part.map(({ block, hashes }, index) => {
      return { block, hashes: listedIn(node.host, block, blocks[index], hashes) };
    });
    const having = listed.filter(({ hashes }) => hashes.length > 0);
    const answers = await node.ask(having.map(({ block }) => ({ method: "eth_getBlockReceipts", params: [block] })));
    for (const [index, { hashes }] of having.entries()) found.push(...receiptsOf(node.host, answers[index], hashes));
  }
  return found;
}

/** Which of these transactions a block says to have. */
function listedIn(host: string, block: Hex, answer: unknown, hashes: readonly Hex[]): readonly Hex[] {
  const named = new Set(readBlock(host, Number(block), namingBlock, answer).transactions);
  return hashes.filter((hash) => named.has(hash));
}

function receiptsOf(host: string, answer: unknown, hashes: readonly Hex[]): readonly Receipt[] {
  const all = z.array(z.looseObject({ transactionHash: z.string() })).safeParse(answer).data ?? [];
  return hashes.map((hash) => {
    const own = receipt.safeParse(all.find(({ transactionHash }) => transactionHash.toLowerCase() === hash));
    if (own.success) return own.data;
    const why = answer instanceof Refusal ? ` (${answer.message})` : "";
    const message = `${host} has ${hash} in a block and does not give its receipt${why}: name an endpoint that keeps receipts of old transactions.`;
    throw new AuditError("CHAIN_UNREADABLE", message);
  });
}
