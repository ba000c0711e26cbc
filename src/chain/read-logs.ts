import { ChainReadError } from "../domain/chain-read-error.ts";
import type { Chain } from "../ports/chain.ts";
import { RpcError } from "./json-rpc.ts";
import { toQuantity } from "./quantity.ts";
import { readArray, readHash, readLog, readNumber, readObject } from "./read-values.ts";
import type { RpcPool } from "./rpc-pool.ts";

type LogFilter = Parameters<Chain["logs"]>[0];
type FoundLogs = Awaited<ReturnType<Chain["logs"]>>;

/**
 * Reads logs over a range of blocks in pieces of at most `maxBlocks`, which nodes limit, each by rules of its own: a piece
 * that is refused is asked in halves.
 * @throws ChainReadError when any piece is missing, or comes from a node without its last block: a part of the logs is
 * no answer
 */
export async function readLogs(pool: RpcPool, filter: LogFilter, maxBlocks: number): Promise<FoundLogs> {
  const found: FoundLogs[number][] = [];
  let size = maxBlocks;
  for (let from = filter.fromBlock; from <= filter.toBlock; ) {
    const to = Math.min(from + size - 1, filter.toBlock);
    try {
      for (const item of await readPiece(pool, filter, { from, to })) found.push(readFoundLog(item, { from, to }));
      from = to + 1;
    } catch (error) {
      const isRefused = error instanceof ChainReadError && error.code === "refused";
      if (!isRefused || to === from) throw error;
      size = Math.ceil((to - from + 1) / 2);
    }
  }
  return found;
}

async function readPiece(pool: RpcPool, filter: LogFilter, range: { from: number; to: number }) {
  const query = {
    ...(filter.address === undefined ? {} : { address: filter.address }),
    topics: filter.topics,
    fromBlock: toQuantity(range.from),
    toBlock: toQuantity(range.to),
  };
  try {
    return readArray(await pool.readUpTo(query.toBlock, "eth_getLogs", [query]), "a list of logs");
  } catch (error) {
    if (error instanceof RpcError) throw new ChainReadError("refused", `eth_getLogs was refused: ${error.message}`);
    throw error;
  }
}

function readFoundLog(item: unknown, range: { from: number; to: number }): FoundLogs[number] {
  const fields = readObject(item, "a log");
  const blockNumber = readNumber(fields.blockNumber, "a log's block");
  if (blockNumber < range.from || blockNumber > range.to) {
    const message = `the node gave a log of block ${blockNumber} for the range ${range.from} to ${range.to}`;
    throw new ChainReadError("malformed answer", message);
  }
  return { ...readLog(item), transactionHash: readHash(fields.transactionHash, "a log's transaction"), blockNumber };
}
