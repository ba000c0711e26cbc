import { expect, test } from "vitest";
import { createChainReader } from "../../src/audit/chain-reader.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

// One URL, behind which several nodes stand: one of them is a block behind the one that named the newest block.

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const NEWEST = 10;
const TOKEN = toAddress(`0x${"70".repeat(20)}`);
const HASH = `0x${"b1".repeat(32)}` as const;
const quantity = (value: number): string => `0x${value.toString(16)}`;

/** What a node whose newest block is this one says, as clients do: logs up to there, no receipt, no state beyond it. */
function said({ method, params }: Call, head: number): object {
  const isBeyond = (block: unknown): boolean => Number(block) > head;
  const [first, second] = params;
  if (method === "eth_getBlockByNumber") {
    const number = first === "latest" ? quantity(head) : first;
    return { result: isBeyond(number) ? null : { number, hash: HASH, timestamp: "0x1" } };
  }
  if (method === "eth_getLogs") {
    const place = { transactionHash: HASH, blockNumber: quantity(NEWEST), logIndex: "0x0" };
    return { result: head < NEWEST ? [] : [{ address: TOKEN, topics: [HASH], data: "0x", removed: false, ...place }] };
  }
  if (method === "eth_getTransactionReceipt") {
    const paid = { gasUsed: "0x1", effectiveGasPrice: "0x1", status: "0x1", logs: [] };
    const place = { transactionHash: HASH, blockNumber: quantity(NEWEST) };
    return { result: head < NEWEST ? null : { ...place, from: TOKEN, ...paid } };
  }
  return isBeyond(second) ? { error: { code: -32_000, message: "header not found" } } : { result: quantity(7) };
}

async function reader() {
  let requests = 0;
  const { url } = await startHttpServer(async (request, response) => {
    requests += 1;
    const head = requests % 2 === 1 ? NEWEST : NEWEST - 1;
    const calls = JSON.parse(await readBody(request)) as Call[];
    response
      .writeHead(200)
      .end(JSON.stringify(calls.map((call) => ({ jsonrpc: "2.0", id: call.id, ...said(call, head) }))));
  });
  const chain = createChainReader(url, undefined);
  expect((await chain.tip()).number).toBe(NEWEST);
  return chain;
}

test("balances and counts are those of the newest block, and no error of a node that has not come there", async () => {
  const chain = await reader();
  expect(await chain.balances([{ token: TOKEN, wallet: TOKEN }], NEWEST)).toEqual([7n]);
  expect(await chain.transactionCount(TOKEN, NEWEST)).toBe(7);
});

test("what the newest block has is missing neither among the logs nor among the receipts", async () => {
  const chain = await reader();
  const logs = await chain.logs([{ address: [TOKEN], topics: [] }], { from: 1, to: NEWEST }, () => undefined);
  expect(logs.map(({ blockNumber }) => blockNumber)).toEqual([NEWEST]);
  expect([...(await chain.receipts([HASH])).keys()]).toEqual([HASH]);
});
