import { z } from "zod";
import type { Hex } from "../domain/money/address.ts";
import { type Ask, unreadable } from "./ask-node.ts";
import { namingBlock, type Receipt, receipt } from "./node-answers.ts";
import { Refusal } from "./node-client.ts";
import { AuditError } from "./report.ts";
import type { IntentRow, SwapRow } from "./rows.ts";

/** In which block each transaction is, by the chain's events and by what is recorded. */
export function placesOf(
  rows: { readonly swaps: ReadonlyMap<string, SwapRow>; readonly intents: ReadonlyMap<string, IntentRow> },
  moves: readonly { readonly hash: Hex; readonly blockNumber: number }[],
): ReadonlyMap<Hex, number> {
  const places = new Map<Hex, number>();
  for (const { hash, block_number: block } of rows.swaps.values()) if (hash && block !== null) places.set(hash, block);
  for (const { mined_attempt_hash: hash, mined_block_number: block } of rows.intents.values())
    if (hash && block !== null) places.set(hash, block);
  // What the chain itself says counts for more.
  for (const { hash, blockNumber } of moves) places.set(hash, blockNumber);
  return places;
}

/** A block's receipts are many, and are read for a few of them. */
const BLOCKS_PER_BATCH = 5;

/**
 * Receipts of transactions that a node finds by their hashes no more: many forget after some weeks in which block each is,
 * and keep the blocks themselves for longer. Those that are not in the block that is said to have them are missing.
 * @throws AuditError `CHAIN_UNREADABLE` where a block has one of them and the node does not give its receipt
 */
export async function receiptsInBlocks(
  node: { readonly host: string; readonly ask: Ask },
  places: readonly { readonly hash: Hex; readonly block: Hex }[],
): Promise<readonly Receipt[]> {
  const byBlock = [...Map.groupBy(places, ({ block }) => block)];
  const found: Receipt[] = [];
  for (let first = 0; first < byBlock.length; first += BLOCKS_PER_BATCH) {
    const part = byBlock.slice(first, first + BLOCKS_PER_BATCH).map(([block, wanted]) => {
      return { params: [block], hashes: wanted.map(({ hash }) => hash) };
    });
    const blocks = await node.ask(
      part.map(({ params }) => ({ method: "eth_getBlockByNumber", params: [...params, false] })),
    );
    const listed = part.map((one, index) => ({ ...one, hashes: listedIn(node.host, blocks[index], one.hashes) }));
    const having = listed.filter(({ hashes }) => hashes.length > 0);
    const answers = await node.ask(having.map(({ params }) => ({ method: "eth_getBlockReceipts", params })));
    for (const [index, { hashes }] of having.entries()) found.push(...receiptsOf(node.host, answers[index], hashes));
  }
  return found;
}

/** Which of these transactions a block says to have; a block that is not there has none. */
function listedIn(host: string, answer: unknown, hashes: readonly Hex[]): readonly Hex[] {
  if (answer instanceof Refusal) throw unreadable(answer);
  const block = namingBlock.nullable().safeParse(answer);
  if (!block.success)
    throw new AuditError("CHAIN_UNREADABLE", `${host} answered a block in a form that cannot be read.`);
  const named = new Set(block.data?.transactions ?? []);
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
