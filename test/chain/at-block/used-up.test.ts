import { expect, test } from "vitest";
import { createBlockReads } from "../../../src/chain/at-block/block-reads.ts";
import { readHead } from "../../../src/chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { readDataFees } from "../../../src/service/data-fees/data-fees.ts";

const BLOCK = {
  number: 7,
  hash: `0x${"aa".repeat(32)}`,
  parentHash: `0x${"bb".repeat(32)}`,
  timestamp: 1_700_000_000,
  logsBloom: `0x${"00".repeat(256)}`,
} as const;
const CALL = { to: toAddress(`0x${"11".repeat(20)}`), data: "0x", words: 1 } as const;

/** A node that answers everything with this error, and counts its requests. */
function refusing(fields: { code?: number; status: number }) {
  let requests = 0;
  const refuse = (): Promise<never> => {
    requests += 1;
    const kind = fields.code === undefined ? "transport" : "rpc";
    throw new RpcError({ kind, host: "node", message: "node: no", nodeMessage: "no", ...fields });
  };
  const rpc: JsonRpc = { host: "node", call: async () => refuse(), batch: async () => refuse() };
  return { rpc, requests: () => requests };
}

const READS: readonly (readonly [string, (rpc: JsonRpc) => Promise<unknown>])[] = [
  ["the newest block", (rpc) => readHead(rpc, 1)],
  ["calls at a block", (rpc) => createBlockReads({ rpc, mode: "multicall" }).at(BLOCK).readAll([CALL])],
  [
    "the fees of data",
    (rpc) => {
      const requests = [{ method: "eth_call", params: [] }];
      return readDataFees(rpc, {
        requests,
        decode: () => ({ dataFee: () => 0n, operatorFee: () => 0n, dataGas: () => 0n }),
      });
    },
  ],
];

test.each(READS)("a node whose plan is used up is asked once for %s: no other try can be answered", async (_, read) => {
  for (const fields of [{ status: 402 }, { code: 402, status: 402 }]) {
    const node = refusing(fields);
    await expect(read(node.rpc)).rejects.toBeInstanceOf(RpcError);
    expect(node.requests()).toBe(1);
  }
});

test.each(READS)("a node that asks for patience, or says nothing, is asked again for %s", async (_, read) => {
  for (const fields of [{ status: 429 }, { status: 502 }]) {
    const node = refusing(fields);
    await expect(read(node.rpc)).rejects.toBeInstanceOf(RpcError);
    expect(node.requests()).toBe(3);
  }
});
