import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "./chain.ts";
import type { Answer, Client } from "./client.ts";

export async function headNumber(chain: TestChain): Promise<number> {
  return Number(await chain.rpc.call("eth_blockNumber", []));
}

/** A quote of the newest block with its transaction: the service looks for a new block only now and then. */
export async function quoteAtHead(
  { chain, client }: { readonly chain: TestChain; readonly client: Client },
  request: Readonly<Record<string, string>>,
): Promise<Answer["body"]> {
  const head = await headNumber(chain);
  for (let tries = 0; tries < 100; tries += 1) {
    const { status, body } = await client.get("/aggregator/quote/transaction", request);
    if (status !== 200) throw new Error(`no quote: ${JSON.stringify({ request, body })}`);
    if (body.quote.blockNumber === head) return body;
    await sleep(10);
  }
  throw new Error(`the service does not see block ${head}`);
}

/** Sends a quote's transaction as it is, with its own gas limit. */
export async function execute(
  chain: TestChain,
  transaction: Answer["body"],
): Promise<{ isDone: boolean; gasUsed: number }> {
  const { from, to, data } = transaction;
  const hex = (text: string) => `0x${BigInt(text).toString(16)}`;
  const fields = { from, to, data, value: hex(transaction.value), gas: hex(transaction.gasLimit) };
  const hash = await chain.rpc.call("eth_sendTransaction", [fields]);
  for (let tries = 0; tries < 400; tries += 1) {
    const receipt = (await chain.rpc.call("eth_getTransactionReceipt", [hash])) as null | {
      status: string;
      gasUsed: string;
    };
    if (receipt !== null) return { isDone: receipt.status === "0x1", gasUsed: Number(receipt.gasUsed) };
    await sleep(5);
  }
  throw new Error("the transaction was not mined");
}
