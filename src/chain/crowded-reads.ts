import { type JsonRpc, RpcError, type RpcRequest } from "./json-rpc.ts";
import { isHeldBack, isRevert } from "./node-errors.ts";
import { type Asked, gatherTurn } from "./same-turn.ts";

/** Asks one endpoint. @throws RpcError */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** Short reads, of which a start with hundreds of open swaps and lanes asks as many at once. */
const SHORT_READS: ReadonlySet<string> = new Set([
  "eth_call",
  "eth_getBalance",
  "eth_getBlockByNumber",
  "eth_getCode",
  "eth_getLogs",
  "eth_getTransactionCount",
  "eth_getTransactionReceipt",
]);

/** Fewer than these go by themselves: then no slow answer delays another one. */
const CROWD = 8;
/** Below what providers allow in one batch. */
const MOST_TOGETHER = 25;
/** After a batch without a proper answer everything goes by itself for so long. */
const ALONE_MS = 600_000;

type Waiting = Asked<RpcRequest, unknown>;

/**
 * Lets short reads that start in the same turn of the event loop travel together when there are many: an HTTP request
 * costs more than what it asks. Whatever a batch leaves open is asked alone, so an endpoint that takes no batches, or
 * smaller ones, is used as if there were none; what it asks patience for is not asked again. Transactions always go alone.
 */
export function createCrowdedReads(rpc: Pick<JsonRpc, "call" | "batch">, monotonicMs: () => number): Ask {
  let aloneUntilMs = Number.NEGATIVE_INFINITY;
  const askAlone = ({ question: { method, params }, resolve, reject }: Waiting): void => {
    rpc.call(method, params).then(resolve, reject);
  };
  const askTogether = async (reads: readonly Waiting[]): Promise<void> => {
    const answers = await batchOf(rpc, reads);
    if (answers.every(isNoAnswer)) aloneUntilMs = monotonicMs() + ALONE_MS;
    for (const [index, read] of reads.entries()) {
      const answer = answers[index];
      if (answer instanceof RpcError && isHeldBack(answer)) read.reject(answer);
      else if (answer instanceof RpcError) askAlone(read);
      else read.resolve(answer);
    }
  };
  const ask = gatherTurn<RpcRequest, unknown>((reads) => {
    if (reads.length < CROWD || monotonicMs() < aloneUntilMs) {
      for (const read of reads) askAlone(read);
      return;
    }
    for (let from = 0; from < reads.length; from += MOST_TOGETHER) {
      const group = reads.slice(from, from + MOST_TOGETHER);
      askTogether(group).catch((error: unknown) => {
        for (const read of group) read.reject(error);
      });
    }
  });
  return (method, params) => (isShort(method, params) ? ask({ method, params }) : rpc.call(method, params));
}

/** An error that says nothing of the call; that a contract refused was found out by making it. */
function isNoAnswer(answer: unknown): boolean {
  return answer instanceof RpcError && !isRevert(answer);
}

/** A call that is injected code may run for as long as the node lets it. */
function isShort(method: string, params: readonly unknown[]): boolean {
  return SHORT_READS.has(method) && !(method === "eth_call" && params.length > 2);
}

/** The answers in their order; without a proper answer to the whole batch, an error in every place. */
async function batchOf(rpc: Pick<JsonRpc, "batch">, reads: readonly Waiting[]): Promise<readonly unknown[]> {
  try {
    return await rpc.batch(reads.map(({ question }) => question));
  } catch (error) {
    if (error instanceof RpcError) return reads.map(() => error);
    throw error;
  }
}
