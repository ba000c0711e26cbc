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
 * that is refused for several contracts is asked for each of them, and one that is refused for one contract in halves.
 * @throws ChainReadError when any piece is missing, or comes from a node without its last block: a part of the logs is
 * no answer
 */
export async function readLogs(pool: RpcPool, filter: LogFilter, maxBlocks: number): Promise<FoundLogs> {
  const { address } = filter;
  if (typeof address !== "object") return await readInHalves(pool, filter, maxBlocks);
  // Nodes take an empty list for every contract.
  if (address.length === 0) return [];
  const found: FoundLogs[number][] = [];
  for (let from = filter.fromBlock; from <= filter.toBlock; from += maxBlocks) {
    const piece = { ...filter, fromBlock: from, toBlock: Math.min(from + maxBlocks - 1, filter.toBlock) };
    const each = (): Promise<readonly FoundLogs[]> =>
      Promise.all(address.map((one) => readInHalves(pool, { ...piece, address: one }, maxBlocks)));
    found.push(...((await orRefused(readPiece(pool, piece))) ?? (await each()).flat().sort(inOrderOfChain)));
  }
  return found;
}

/** As one answer for all contracts has them, so that endpoints which gave it in pieces agree with the others. */
function inOrderOfChain(left: FoundLogs[number], right: FoundLogs[number]): number {
  return left.blockNumber - right.blockNumber || left.logIndex - right.logIndex;
}

/** @returns undefined where it was refused */
async function orRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return await answer.catch((error: unknown) => {
    if (error instanceof ChainReadError && error.code === "refused") return undefined;
    throw error;
  });
}

async function readInHalves(pool: RpcPool, filter: LogFilter, maxBlocks: number): Promise<FoundLogs> {
  const found: FoundLogs[number][] = [];
  let size = maxBlocks;
  for (let from = filter.fromBlock; from <= filter.toBlock; ) {
    const to = Math.min(from + size - 1, filter.toBlock);
    try {
      found.push(...(await readPiece(pool, { ...filter, fromBlock: from, toBlock: to })));
      from = to + 1;
    } catch (error) {
      const isRefused = error instanceof ChainReadError && error.code === "refused";
      if (!isRefused || to === from) throw error;
      size = Math.ceil((to - from + 1) / 2);
    }
  }
  return found;
}

async function readPiece(pool: RpcPool, { fromBlock: from, toBlock: to, ...of }: LogFilter): Promise<FoundLogs> {
  const query = {
    ...(of.address === undefined ? {} : { address: of.address }),
    topics: of.topics,
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
  };
  try {
    const answer = await pool.readUpTo(query.toBlock, "eth_getLogs", [query]);
    return readArray(answer, "a list of logs").map((item) => readFoundLog(item, { from, to }));
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
